"""Bulk generation from files of acts: read line by line, generated block by block, in parallel, and resumable."""
