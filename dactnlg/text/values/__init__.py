"""Values in sentences: found and replaced by placeholders, and put back so that the words beside them fit."""
