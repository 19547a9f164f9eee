"""Keeps corpora searchable: documents become passages with vectors of an embedding model."""
