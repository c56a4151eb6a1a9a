"""Fidelity: whether a sentence says what its act says, whoever wrote it.

`FidelityChecker` tells for any act and sentence which values, special values, questions and act types are missing,
extra, contradicted, or said of another slot. Its evidence is the values that the delexicaliser finds, the cues of the
data card, and a `Reader` that was learned from the corpus's own pairs. Generation asks it about every template.
"""
