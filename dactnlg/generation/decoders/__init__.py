"""Searching and sampling with trained models: one interface for NumPy and Keras, single runs and ensembles."""
