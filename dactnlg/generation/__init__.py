"""From an act to a checked sentence.

`generator.Generator` loads a run and generates: candidates from a search or from templates (`reranking`), unseen acts
by way of seen ones (`finding`, `unseen`), the fidelity check, relexicalisation, surface form.
`options.GenerationOptions` holds everything that a caller may choose. `decoders` search with a trained model, `files`
processes files of any length, in one process or several, resumably, and `exports` writes a run's search for other
programs.
"""
