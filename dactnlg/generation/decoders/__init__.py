"""Searching and sampling with a trained model: one interface, by NumPy or by Keras, of one run or of several."""
