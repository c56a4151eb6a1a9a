"""Dialogue: whole conversations, with simulated users, and scores of them (Ghandeharioun et al. 2019).

`task` lets a generator say the system's turns to an agenda user who reads what it says; `components` computes what a
conversation is like (sentiment, semantics, engagement), and `hybrid` weighs these so that they predict what people
think of a bot. `conversations` is what all of them read and write: turns with a speaker, one conversation a line.
"""
