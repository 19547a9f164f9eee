"""Writes the files that follow from `pgclarify.declared`: `make generated`."""
