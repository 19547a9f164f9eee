"""Retrieval for runs: the first ranking, reranking, and neighbors of passages."""
