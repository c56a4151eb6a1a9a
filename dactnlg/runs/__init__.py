"""What one experiment is: its configuration, the run folder that training writes and all else reads, its provenance."""
