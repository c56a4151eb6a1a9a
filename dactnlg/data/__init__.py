"""Corpora: data cards, readers of their formats, download, audit, training pairs and batches.

`corpus.load_corpus` returns a corpus by name or path, `fetching.fetch` downloads it and `inspection.audit` checks it.
`pairs` delexicalises its splits for training, `batching` turns the pairs into arrays. A corpus is defined by a card in
`datasets/`, a format by a module in `readers`. Training and evaluation use this package; generation needs no corpus.
"""
