"""Task self-play: an agenda user and an act-level policy, with the generator under test wording the system's turns."""
