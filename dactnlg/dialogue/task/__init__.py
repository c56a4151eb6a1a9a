"""Task self-play: an agenda user, a policy on acts, and between them the sentences of the generator under test."""
