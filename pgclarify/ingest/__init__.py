"""Reads files as documents, and cuts documents into chunks."""

from pgclarify.ingest.chunking import Chunker
from pgclarify.ingest.files import read_documents
from pgclarify.ingest.records import FieldMapping

__all__ = ["Chunker", "FieldMapping", "read_documents"]
