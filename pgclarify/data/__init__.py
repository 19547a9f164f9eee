"""Frozen data that the packages of pgclarify share. Its methods only derive values from the data itself."""
