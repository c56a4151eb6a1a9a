"""Evaluation: a run, or files of hypotheses, become scores that can be compared.

`evaluate.evaluate` generates a split and scores it; `scoring.score_pairs` scores hypotheses from anywhere; `likelihood`
computes a model's perplexity. `comparable` says whether two scores may be compared, `comparison` which system is
better and how sure that is. `report` writes pages, `stored` reads scores back from JSON.
"""
