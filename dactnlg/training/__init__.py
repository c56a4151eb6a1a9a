"""Pairs and a model -> a run: one loop, and learners that plug into it, on one device or several."""
