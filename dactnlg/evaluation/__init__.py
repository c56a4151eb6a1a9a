"""Evaluation: comparable scores for a run, or for files of hypotheses.

`evaluate.evaluate` generates a split and scores it; `scoring.score_pairs` scores hypotheses from any source;
`likelihood` computes a model's perplexity. `comparable` decides whether two scores may be compared, `comparison` which
system is better and how sure that is. `report` writes pages, `stored` reads scores back from JSON.
"""
