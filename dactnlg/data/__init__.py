"""Corpora: data cards, readers of their formats, download, audit, training pairs and batches.

`corpus.load_corpus` returns a corpus by name or path, `fetching.fetch` downloads it and `inspection.audit` checks it.
`pairs` delexicalises its splits for training, `batching` makes arrays of the pairs. A corpus is a card in `datasets/`;
a format is a module in `readers`. Training and evaluation use this room; generation needs no corpus.
"""
