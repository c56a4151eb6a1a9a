"""Fidelity: whether any sentence, generated or human, expresses its act.

`FidelityChecker` finds which values, special values, questions and act types of an act are missing from a sentence,
extra, contradicted, or assigned to another slot. Its evidence is the values found by the delexicaliser, the cues of the
data card, and a `Reader` learned from the corpus's own pairs. Generation checks every template with it.
"""
