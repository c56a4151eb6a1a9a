"""Training: from training pairs and a model to a run.

`train.train` reads the corpora and writes the run folder; `schedule` chooses the length of training, `building` the
learner; `loop` runs epochs, early stopping and checkpoints, whatever the learner. `messages` reports progress, and
`advice` warns of likely problems. A `callbacks.Callback` observes training and may end it. `augmentation` creates
additional pairs; `devices` distributes training over devices and processes, with the same losses as on one device.
"""
