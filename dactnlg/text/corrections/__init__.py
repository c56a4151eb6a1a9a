"""Texts in better English that say the same: verbs that agree, lists with "and", conditions in order, one question."""
