"""Metrics, one file each over a small base: statistics per segment, scores from their sums, a signature.

`registry.select` makes metrics by name in the variants of a preset (`presets`); `resampling` gives intervals and tests
from the statistics of segments. Families with data of their own have a folder: `meteor`, `embeddings`,
`sentence_encoder`.
"""
