"""Scores from word vectors: embedding average, vector extrema, greedy matching (Sharma et al. 2017, section 3.2)."""
