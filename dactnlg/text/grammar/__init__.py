"""How a text reads: word runs unseen in training, faults of clauses, misplaced denials and questions."""
