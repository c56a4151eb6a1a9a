"""From an act to a checked sentence.

`generator.Generator` loads a run and generates: candidates from a search or from templates (`reranking`), acts that
training never had as those that it had (`finding`, `unseen`), the fidelity check, values put back, surface form.
`options.GenerationOptions` is all that a caller may choose. `decoders` search with a trained model, `files` generates
files of any length, by one process or several, resumably, and `exports` writes a run's search for other programs.
"""
