"""Tokenisers of metrics, and of models in fair evaluation."""
