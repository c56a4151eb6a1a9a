"""Recurrent cells and what they need."""
