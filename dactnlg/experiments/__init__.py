"""Working with runs: sweeps, tuning, distillation, publication, reproduction and the leaderboard.

`sweep.sweep` trains and ranks the trials of a sweep file; `tuning.tune` chooses a run's decoding settings;
`distillation.distil` trains a run on checked paraphrases, which `prompts` asks for; `publish.publish` copies a run into
a store that a team shares, and `published` finds it there; `reproduce.reproduce` repeats a run from its manifest and
compares the scores; `leaderboard` ranks runs with comparable scores. Only the command line uses this room.
"""
