"""How a text reads: runs of words that training never had, faults of clauses, denials and questions out of place."""
