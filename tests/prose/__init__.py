"""Prose in this repository: report.py shows what is hard to read, unchanged.py that a commit changed prose alone."""
