"""Searches over a step function: beam, greedy, sampling, scoring of given sentences, and constraints on all of them.

They know no model and no act: a step takes states and the last tokens and returns scores of the next ones. There is
one beam search for two kinds of arrays: `numpy_beam` advances live hypotheses alone, for processors; `keras_beam` has
fixed shapes and can be compiled and exported, for any device of Keras. Its rules, the same in both: a finished
hypothesis is frozen, it keeps its score and its place and can only be pushed out by better ones; scores are sums of log
probabilities and can only fall, so once the best hypotheses are finished nothing can overtake them. `constraints` are
stated once for both.
"""
