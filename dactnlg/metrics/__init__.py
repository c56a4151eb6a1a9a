"""Metrics: one file per metric, over a small base.

A metric turns segments into statistics, (N, S), and summed statistics into scores; scores carry a signature.
`registry` finds metrics by name, `presets` holds the named evaluation protocols, `resampling` computes intervals and
tests from the statistics. Families that need data of their own are folders: `meteor`, `embeddings`,
`sentence_encoder`. Nothing here depends on runs or models.
"""
