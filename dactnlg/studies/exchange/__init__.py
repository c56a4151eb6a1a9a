"""Ratings in the files of other tools: Potato's annotations, the tables of the E2E challenge, and back."""
