"""Values in sentences: replaced by placeholders, and put back so that the words next to them fit."""
