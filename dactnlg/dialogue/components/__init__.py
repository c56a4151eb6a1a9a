"""What a conversation is like: the components of Ghandeharioun et al. 2019, section 4.3, as functions over arrays."""
