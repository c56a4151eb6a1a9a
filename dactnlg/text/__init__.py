"""Conversion between acts and sentences on one side and tokens on the other.

`preprocessor.Preprocessor` combines the parts and is what a run saves of them: surface form, casing, delexicalisation,
templates, trigger words, vocabulary and the encoding of acts. `values` finds values and puts them back, `grammar`
judges how a text reads, `corrections` betters it, and `slots.SlotChecker` checks a sentence against its act. Nothing
here depends on a particular corpus or model.
"""
