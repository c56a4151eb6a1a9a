"""Dialogue: conversations with simulated users, and their scores (Ghandeharioun et al. 2019).

In `task` a generator says the system's turns to an agenda user who reads its sentences; `components` measures
conversations (sentiment, semantics, engagement), and `hybrid` weights the components to predict human ratings of a bot.
All of them read and write `conversations`: turns with a speaker, one conversation per line.
"""
