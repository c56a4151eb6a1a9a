"""Statistics of ratings, by libraries where possible: agreement, correlation with metrics, rankings of systems."""
