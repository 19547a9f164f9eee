"""Writes all-MiniLM-L6-v2 as an ONNX graph: tokens in, a sentence vector of unit length out.

The graph holds no weights. It names those of model.safetensors by their place in that file, so that the network
computes with what was published. It is BERT's encoder (Devlin et al., 2019) with 6 layers, mean pooling over the tokens
of a text, and normalization, as the model's authors describe it, in standard operators of opset 20.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import NodeProto, TensorProto, helper

_LAYERS = 6
_HEADS = 12
_WIDTH = 384
_HEAD_WIDTH = _WIDTH // _HEADS
_EPSILON = 1e-12
# Added to the scores of padding: its share of the attention is exactly 0 then.
_MASKED = -10000.0
_OPSET = 20
_IR_VERSION = 9


def write_graph(weights: Path, graph: Path) -> None:
    """Write the graph beside the file with its weights.

    Inputs are input_ids and attention_mask, int64, shape (texts, tokens); the output is embedding, float32, shape
    (texts, 384).

    Args:
        weights: model.safetensors, as published.
        graph: Where to; in the folder of the weights, which it names without a folder.
    """
    model = helper.make_model(
        _Writer(*_read_header(weights), location=weights.name).write(),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    graph.write_bytes(model.SerializeToString(deterministic=True))


def _read_header(path: Path) -> tuple[Mapping[str, Any], int]:
    """Of a safetensors file: shape and place of each tensor, and where the tensors begin."""
    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        return json.loads(stream.read(length)), 8 + length


@dataclass
class _Writer:
    tensors: Mapping[str, Any]
    tensors_begin: int
    location: str
    nodes: list[NodeProto] = field(default_factory=list)
    initializers: dict[str, TensorProto] = field(default_factory=dict)

    def write(self) -> Any:  # noqa: ANN401 - a class that protobuf makes at run time
        """The whole graph."""
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
        mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["texts", "tokens"])
        embedding = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["texts", _WIDTH])
        self._shapes()
        hidden = self._embeddings()
        for number in range(_LAYERS):
            hidden = self._layer(f"encoder.layer.{number}", hidden)
        self._pool(hidden)
        return helper.make_graph(
            self.nodes, "all-MiniLM-L6-v2", [ids, mask], [embedding], list(self.initializers.values())
        )

    def _shapes(self) -> None:
        self._node("Shape", ["input_ids"], "shape")
        self._node("Split", ["shape"], "texts", "tokens", num_outputs=2)
        self._node("Concat", ["shape", self._integers("heads_and_width", [_HEADS, _HEAD_WIDTH])], "by_head", axis=0)
        self._node("Concat", ["shape", self._integers("width", [_WIDTH])], "by_text", axis=0)
        self._integers("by_token", [-1, _WIDTH])
        self._node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        self._node("Sub", [self._number("one", 1.0), "mask"], "is_padding")
        self._node("Mul", ["is_padding", self._number("masked", _MASKED)], "penalties")
        self._node("Unsqueeze", ["penalties", self._integers("heads_and_queries", [1, 2])], "penalty")

    def _embeddings(self) -> str:
        self._node("Gather", [self._weight("embeddings.word_embeddings.weight"), "input_ids"], "words")
        first, positions = self._integers("first", [0]), self._weight("embeddings.position_embeddings.weight")
        self._node("Slice", [positions, first, "tokens"], "positions")
        self._node("Gather", [self._weight("embeddings.token_type_embeddings.weight"), first], "type")
        self._node("Add", ["positions", "type"], "places")
        self._node("Add", ["words", "places"], "embedded")
        rows = self._node("Reshape", ["embedded", "by_token"], "embedded_rows")
        return self._normalize(rows, "embeddings.LayerNorm")

    def _layer(self, name: str, hidden: str) -> str:
        """One layer of the encoder, on rows of all tokens of all texts: shape (texts * tokens, 384)."""
        queries, keys, values = (
            self._linear(hidden, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        scale = self._number("scale", _HEAD_WIDTH**-0.5)
        queries = self._heads(self._node("Mul", [queries, scale], f"{queries}.scaled"), [0, 2, 1, 3])
        scores = self._node("MatMul", [queries, self._heads(keys, [0, 2, 3, 1])], f"{name}.scores")
        masked = self._node("Add", [scores, "penalty"], f"{name}.masked")
        shares = self._node("Softmax", [masked], f"{name}.shares", axis=-1)
        read = self._node("MatMul", [shares, self._heads(values, [0, 2, 1, 3])], f"{name}.read")
        joined = self._node("Transpose", [read], f"{name}.joined", perm=[0, 2, 1, 3])
        rows = self._node("Reshape", [joined, "by_token"], f"{name}.rows")
        hidden = self._residual(
            self._linear(rows, f"{name}.attention.output.dense"), hidden, f"{name}.attention.output"
        )
        wide = self._linear(hidden, f"{name}.intermediate.dense")
        wide = self._node("Gelu", [wide], f"{wide}.gelu")
        return self._residual(self._linear(wide, f"{name}.output.dense"), hidden, f"{name}.output")

    def _pool(self, hidden: str) -> None:
        """The mean over a text's tokens, at unit length: their sum points the same way."""
        self._node("Reshape", [hidden, "by_text"], "tokens_of_texts")
        self._node("Unsqueeze", ["mask", self._integers("rows", [1])], "mask_rows")
        self._node("MatMul", ["mask_rows", "tokens_of_texts"], "sum_rows")
        self._node("Squeeze", ["sum_rows", "rows"], "sums")
        self._node("LpNormalization", ["sums"], "embedding", axis=-1, p=2)

    def _heads(self, rows: str, order: Sequence[int]) -> str:
        """Rows by text and head: shape (texts, tokens, heads, 32), its axes put in order."""
        parted = self._node("Reshape", [rows, "by_head"], f"{rows}.by_head")
        return self._node("Transpose", [parted], f"{rows}.heads", perm=order)

    def _linear(self, rows: str, name: str) -> str:
        return self._node("Gemm", [rows, *self._weights(name)], f"{name}.out", transB=1)

    def _residual(self, rows: str, hidden: str, name: str) -> str:
        added = self._node("Add", [rows, hidden], f"{name}.added")
        return self._normalize(added, f"{name}.LayerNorm")

    def _normalize(self, rows: str, name: str) -> str:
        inputs = [rows, *self._weights(name)]
        return self._node("LayerNormalization", inputs, f"{name}.out", axis=-1, epsilon=_EPSILON)

    def _weights(self, name: str) -> tuple[str, str]:
        return self._weight(f"{name}.weight"), self._weight(f"{name}.bias")

    def _weight(self, name: str) -> str:
        """Name a tensor of the file."""
        tensor = self.tensors[name]
        begin, end = tensor["data_offsets"]
        place = {"location": self.location, "offset": self.tensors_begin + begin, "length": end - begin}
        weight = TensorProto(name=name, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        weight.dims.extend(tensor["shape"])
        for key, value in place.items():
            weight.external_data.add(key=key, value=str(value))
        self.initializers[name] = weight
        return name

    def _integers(self, name: str, values: Sequence[int]) -> str:
        self.initializers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def _number(self, name: str, value: float) -> str:
        self.initializers[name] = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        return name

    def _node(self, operator: str, inputs: Iterable[str], *outputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as onnx has it
        self.nodes.append(helper.make_node(operator, list(inputs), list(outputs), **attributes))
        return outputs[0]
