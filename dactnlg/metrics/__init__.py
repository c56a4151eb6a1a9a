"""Metrics: a file for each, over a small base.

A metric turns segments into statistics, (N, S), and sums of statistics into scores; scores carry a signature.
`registry` finds metrics by name, `presets` are named evaluation protocols, `resampling` gives intervals and tests from
the statistics. Families with data of their own are folders: `meteor`, `embeddings`, `sentence_encoder`. Nothing here
knows runs or models.
"""
