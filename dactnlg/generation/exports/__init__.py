"""Exports for other programs: one step of a model as ONNX, or the whole search as a TensorFlow SavedModel."""
