"""A verifier without a language model. docs/methods/extractive.md says how it works and how good it is."""

from pgclarify.providers.extractive.verifier import ExtractiveVerifier

__all__ = ["ExtractiveVerifier"]
