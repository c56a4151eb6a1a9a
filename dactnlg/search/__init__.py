"""Searches over a step function: they know nothing of models."""
