"""A verifier that works with no language model at all. docs/methods/extractive.md tells how, and how well."""

from pgclarify.providers.extractive.verifier import ExtractiveVerifier

__all__ = ["ExtractiveVerifier"]
