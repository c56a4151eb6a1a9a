"""Evaluation: from a run or from files to scores, comparisons and reports.

`evaluate` generates a split of a corpus with a run and scores it; `scoring.score` scores sentences from Python,
`scoring.score_pairs` from files of any length; `comparison.compare` tests the difference between two systems; `report`
writes pages. It gives to others `Scores`, which carry signatures, hashes and the statistics behind them.
"""
