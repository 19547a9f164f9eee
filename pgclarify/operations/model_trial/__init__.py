"""Measures how many passages a model reads in one call."""
