"""Embedding models of sentence-transformers, on PyTorch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.config import Device
from pgclarify.embedding.devices import telling_out_of_memory
from pgclarify.embedding.embedder import ACCELERATOR_BATCH_CHARS, CPU_BATCH_CHARS, LoadedModel
from pgclarify.embedding.loading import load_model
from pgclarify.errors import EmbeddingError

# The library's names for a passage's prompt, in the order in which it looks for them.
_PASSAGE_PROMPTS = ("document", "passage", "corpus")


def load_sentence_transformer(name: str, *, device: Device = Device.AUTO) -> LoadedModel:
    """Load a model. This takes seconds.

    Args:
        name: "all-MiniLM-L6-v2" (from an installed package if there is one), another sentence-transformers name, or a
            local path.
        device: The device.

    Raises:
        ModelNotFound: If there is no such model.
        EmbeddingError: If the model cannot be used.
    """
    transformer: Any = load_model(name, device)
    dimensions = transformer.get_embedding_dimension()
    tokenizer = getattr(transformer.tokenizer, "backend_tokenizer", None)
    if dimensions is None or tokenizer is None:
        raise EmbeddingError(
            f"the embedding model {name} cannot be used",
            detail="It has no fixed number of dimensions, or its tokenizer is not of the library tokenizers.",
            hint="Choose a sentence-transformers text model.",
        )
    # A copy, because the model's own tokenizer truncates, and a thread uses it.
    counting = Tokenizer.from_str(tokenizer.to_str())
    counting.no_truncation()
    counting.no_padding()
    is_cpu = transformer.device.type == "cpu"
    # Some models exclude the prompt from the vector; then it is not part of the text.
    is_text = all(getattr(module, "include_prompt", True) for module in transformer)
    prompts = {name: prompt for name, prompt in transformer.prompts.items() if prompt and is_text}
    query_prompt = prompts.get("query", "")
    passage_prompt = next((prompts[name] for name in _PASSAGE_PROMPTS if name in prompts), "")
    prompt_tokens = max(map(len, counting.encode_batch([query_prompt, passage_prompt], add_special_tokens=False)))
    return LoadedModel(
        encode=telling_out_of_memory(partial(_encode, transformer)),
        tokenizer=counting,
        dimensions=int(dimensions),
        max_tokens=int(transformer.max_seq_length or transformer.tokenizer.model_max_length) - prompt_tokens,
        batch_chars=CPU_BATCH_CHARS if is_cpu else ACCELERATOR_BATCH_CHARS,
        query_prompt=query_prompt,
        passage_prompt=passage_prompt,
    )


def _encode(transformer: Any, texts: list[str]) -> NDArray[np.float32]:  # noqa: ANN401 - the library's class, which is slow to import
    vectors = transformer.encode(
        texts,
        # The prompts are already part of the texts.
        prompt="",
        batch_size=len(texts),
        show_progress_bar=False,
        convert_to_numpy=True,
        normalize_embeddings=True,
    )
    if vectors.dtype == np.float32:
        return np.asarray(vectors)
    # A model file may be in half precision. Then the length of a vector is wrong by some thousandths.
    wide = np.asarray(vectors, dtype=np.float32)
    unit: NDArray[np.float32] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return unit
