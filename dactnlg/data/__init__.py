"""Corpora: data cards, readers of their formats, download, audit, training pairs, batches.

`corpus.load_corpus` gives a corpus by name or path; `pairs` delexicalises its splits for training; `batching` makes
them arrays.
"""
