"""Measures of a conversation: the components of Ghandeharioun et al. 2019, section 4.3, as functions of arrays."""
