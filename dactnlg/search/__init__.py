"""Searches over a step function: beam, greedy, sampling, scoring of given sentences, and constraints on all of them.

They are independent of models and acts: a step takes states and the last tokens and returns scores of the next ones.
There are two implementations of beam search: `numpy_beam` advances only live hypotheses, for CPUs; `keras_beam` has
fixed shapes and can be compiled and exported, for any device of Keras. Both follow the same rules: a finished
hypothesis is frozen, that is, it keeps its score and its place and can only be pushed out by better ones; scores are
sums of log probabilities and can only fall, so once the best hypotheses are finished nothing can overtake them. Both
share `constraints`.
"""
