"""From an act to a checked sentence.

`generator.Generator` loads a run and generates: candidates from a search or from templates, reranking, the fidelity
check, values put back, surface form. `options.GenerationOptions` is all that a caller may choose. `worker`, `blocks`,
`bulk` and `parallel` generate files of any length, by one process or several, resumably; `lines` reads acts.
`export` writes a run's search as an ONNX model or a TensorFlow SavedModel.
"""
