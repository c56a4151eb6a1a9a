"""A run's search for other programs: an ONNX model of a step, or a TensorFlow SavedModel of all of it."""
