"""Between acts and sentences on one side and tokens on the other.

Tokenisers, surface form, casing, delexicalisation, slot checks, vocabulary and the preprocessor that puts them
together. Nothing here knows a model.
"""
