"""Sentence cosine with MiniLM in NumPy."""
