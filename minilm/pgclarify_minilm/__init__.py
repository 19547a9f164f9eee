"""The embedding model all-MiniLM-L6-v2, for sentence-transformers and for ONNX Runtime."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
