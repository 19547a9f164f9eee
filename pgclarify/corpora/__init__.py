"""Keeping a corpus searchable: documents become passages with vectors, of one embedding model or another."""
