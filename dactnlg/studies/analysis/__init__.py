"""Statistics of ratings, by libraries where they have them: agreement, correlation with metrics, orders of systems."""
