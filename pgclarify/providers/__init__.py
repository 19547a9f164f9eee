"""Providers answer model calls: chat models and rerankers behind endpoints, or rules and embeddings without a model."""
