"""Run or files -> scores, comparison, report."""
