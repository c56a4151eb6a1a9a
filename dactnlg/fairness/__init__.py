"""Fair evaluation (Huang et al. 2020, CoTK): vocabularies, hash codes, and metrics that compare across vocabularies."""
