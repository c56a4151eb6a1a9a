"""NumPy in the place of Keras for some of the models: faster on a processor, the same equations."""
