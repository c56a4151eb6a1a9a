"""More pairs than a corpus has: slots of two put together, acts invented, sentences of teachers that pass the check."""
