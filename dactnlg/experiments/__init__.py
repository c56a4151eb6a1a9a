"""Many runs: sweeps, publication, reproduction and the leaderboard.

`sweep.sweep` trains and ranks the trials of a sweep file; `publish.publish` copies a run into a store that a team
shares, and `published` finds it there; `reproduce.reproduce` repeats a run from its manifest and compares the scores;
`leaderboard` ranks runs whose scores may be compared. The command line alone uses this room.
"""
