"""Training: pairs and a model become a run.

`train.train` reads the corpora and writes the run folder; `building` chooses the learner, `loop` owns epochs, early
stopping and checkpoints, whatever the learner. `callbacks.Callback` watches a training and may end it. `workers`,
`process_group` and `rendezvous` spread a training over several devices and processes; its losses stay those of one.
"""
