"""Between acts and sentences on one side and tokens on the other.

`preprocessor.Preprocessor` puts the parts together and is what a run saves of them: tokenisers, surface form, casing,
delexicalisation, templates, trigger words, vocabulary and the encoding of acts. `values` finds values and puts them
back, `grammar` tells how a text reads, and `slots.SlotChecker` checks a sentence against its act. Nothing here knows a
corpus or a model.
"""
