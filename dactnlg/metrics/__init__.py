"""Metrics, one file each over a small base: statistics per segment, scores from their sums, a signature."""
