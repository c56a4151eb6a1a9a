"""Training: pairs and a model become a run.

`train.train` reads the corpora and writes the run folder; `schedule` says how long it takes, `building` chooses the
learner, `loop` owns epochs, early stopping and checkpoints, whatever the learner. `messages` tells how far it is, and
`advice` what gives reason to doubt. `callbacks.Callback` watches a training and may end it. `augmentation` makes more
pairs than the corpora have; `devices` spreads a training over several devices and processes, with the losses of one.
"""
