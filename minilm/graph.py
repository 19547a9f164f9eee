"""Writes ONNX graphs of all-MiniLM-L6-v2, and of the span reader and the judge of sentences that were trained from it.

The graphs contain no weights. They refer to the places of weights in safetensors files, so that the embedding model
uses the published weights. All graphs are BERT's encoder (Devlin et al., 2019) with 6 layers, in standard operators of
opset 20; those in 8-bit integers also have one operator of ONNX Runtime. The embedding model ends with mean pooling
over the tokens of a text and normalization, as its authors describe it. The reader ends with two heads: one for the
ends of an answer, one for answerability (Devlin et al., §4.3).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, helper

_LAYERS = 6
_HEADS = 12
_WIDTH = 384
_HEAD_WIDTH = _WIDTH // _HEADS
_ATTENTION = ("query", "key", "value")
_EPSILON = 1e-12
# Added to the scores of padding, so that its share of the attention is exactly 0.
_MASKED = -10000.0
# ONNX Runtime has operators of its own in a second set.
_RUNTIME = "com.microsoft"
_OPSETS = {"": 20, _RUNTIME: 1}
_IR_VERSION = 9
# Values are from -127 to 127. Inputs are shifted to 1 to 255, because processors multiply unsigned integers by signed
# ones.
_LARGEST_INT8 = 127
_UINT8_ZERO = 128
# Avoids a division by zero for a row of zeros.
_SMALLEST_SCALE = 1e-20
# Names of types in safetensors, numpy and ONNX.
_TYPES = {"F32": (np.float32, TensorProto.FLOAT), "I8": (np.int8, TensorProto.INT8)}


def write_embedder(weights: Path, graph: Path, *, rounded: Path | None = None) -> None:
    """Write the embedding model's graph beside the files with its weights.

    Inputs are input_ids and attention_mask, int64, shape (texts, tokens); the output is embedding, float32, shape
    (texts, 384).

    Args:
        weights: model.safetensors, as published.
        graph: The output file, in the folder of the weights. The graph names the weights without a folder.
        rounded: The output of `round_weights`, in the same folder; then linear layers multiply 8-bit integers. The row
            of each token has its own scale, so that the texts of a batch do not change each other's vectors.
    """
    files = [_Tensors.read(each) for each in (rounded, weights) if each is not None]
    _save(_Writer(files, in_int8=rounded is not None).write_embedder(), graph)


def round_weights(weights: Path, rounded: Path) -> None:
    """Round the matrices of linear layers to 8-bit integers, with one scale for each column.

    Args:
        weights: model.safetensors, as published.
        rounded: The output file. It has for each layer .columns, int8, shape (inputs, outputs), .scales and .bias,
            float32, shape (outputs,). Queries, keys and values are one layer.
    """
    published = _Tensors.read(weights)
    tensors: dict[str, NDArray[Any]] = {}
    for name in sorted(published.header):
        layer, _, kind = name.rpartition(".")
        if not layer.startswith("encoder.layer.") or kind != "weight" or layer.endswith("LayerNorm"):
            continue
        block, _, part = layer.rpartition(".")
        joined = [layer]
        if part in _ATTENTION:
            layer, joined = block, [f"{block}.{each}" for each in _ATTENTION]
        matrix, bias = (
            np.concatenate([published.load(weights, f"{each}.{kind}") for each in joined])
            for kind in ("weight", "bias")
        )
        scales = np.abs(matrix).max(axis=1) / np.float32(_LARGEST_INT8)
        tensors[f"{layer}.columns"] = np.rint(matrix / scales[:, None]).astype(np.int8).T
        tensors[f"{layer}.scales"], tensors[f"{layer}.bias"] = scales, bias
    header, content = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        types = {dtype: kind for kind, (dtype, _) in _TYPES.items()}
        place = [len(content), len(content) + len(raw)]
        header[name] = {"dtype": types[tensor.dtype.type], "shape": tensor.shape, "data_offsets": place}
        content += raw
    described = json.dumps(header).encode()
    # The format requires that tensors begin at a multiple of 8 bytes.
    described += b" " * (-len(described) % 8)
    rounded.write_bytes(struct.pack("<Q", len(described)) + described + content)


def write_reader(weights: Path, trained: Path, graph: Path, *, in_int8: bool = False) -> None:
    """Write the reader's graph beside the files with its weights.

    Inputs are input_ids, attention_mask and token_type_ids, int64, shape (texts, tokens). Outputs are span, float32,
    shape (texts, tokens, 2): logits of each token as the first and the last of the answer; and answerable, float32,
    shape (texts, 1): the logit of answerability.

    Args:
        weights: model.safetensors, as published: the token embeddings are those of the embedding model.
        trained: reader.safetensors: the encoder's layers, whose matrices are int8 with a scale for each row, and the
            heads.
        graph: The output file, in the folder of both. The graph names both without a folder.
        in_int8: The encoder's layers multiply 8-bit integers, as in the other graph of `write_embedder`.
    """
    _save(_Writer([_Tensors.read(trained), _Tensors.read(weights)], in_int8=in_int8).write_reader(), graph)


def write_sentence_judge(weights: Path, trained: Path, graph: Path, *, in_int8: bool = False) -> None:
    """Write the graph of the judge of sentences beside the files with its weights.

    Inputs are those of the reader. The output is tells, float32, shape (texts, tokens, 1): a logit of each token; their
    mean over a sentence is the logit of the probability that it answers.

    Args:
        weights: As for the reader.
        trained: sentences.safetensors, in the form of the reader's file.
        graph: As for the reader.
        in_int8: As for the reader.
    """
    _save(_Writer([_Tensors.read(trained), _Tensors.read(weights)], in_int8=in_int8).write_sentence_judge(), graph)


def _save(graph: GraphProto, path: Path) -> None:
    opsets = [helper.make_opsetid(each, _OPSETS[each]) for each in sorted({node.domain for node in graph.node})]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    path.write_bytes(model.SerializeToString(deterministic=True))


@dataclass(frozen=True)
class _Tensors:
    """The tensors of a safetensors file.

    Attributes:
        file: The name of the file.
        header: Type, shape and place of each tensor.
        begin: Where the tensors begin.
    """

    file: str
    header: Mapping[str, Any]
    begin: int

    @classmethod
    def read(cls, path: Path) -> _Tensors:
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            return cls(path.name, json.loads(stream.read(length)), 8 + length)

    def load(self, path: Path, name: str) -> NDArray[Any]:
        """Read a tensor of the file at path."""
        tensor = self.header[name]
        begin, end = tensor["data_offsets"]
        with path.open("rb") as stream:
            stream.seek(self.begin + begin)
            return np.frombuffer(stream.read(end - begin), dtype=_TYPES[tensor["dtype"]][0]).reshape(tensor["shape"])

    def name_in(self, initializers: dict[str, TensorProto], name: str) -> None:
        """Add an initializer that refers to the place of a tensor in the file."""
        tensor = self.header[name]
        begin, end = tensor["data_offsets"]
        place = {"location": self.file, "offset": self.begin + begin, "length": end - begin}
        proto = TensorProto(name=name, data_type=_TYPES[tensor["dtype"]][1], data_location=TensorProto.EXTERNAL)
        proto.dims.extend(tensor["shape"])
        for key, value in place.items():
            proto.external_data.add(key=key, value=str(value))
        initializers[name] = proto


@dataclass
class _Writer:
    files: Sequence[_Tensors]
    in_int8: bool = False
    nodes: list[NodeProto] = field(default_factory=list)
    quantized: dict[str, tuple[str, str]] = field(default_factory=dict)
    initializers: dict[str, TensorProto] = field(default_factory=dict)

    def write_embedder(self) -> GraphProto:
        self._pool(self._encode("first"))
        return self._graph("all-MiniLM-L6-v2", ["input_ids", "attention_mask"], {"embedding": ["texts", _WIDTH]})

    def write_reader(self) -> GraphProto:
        hidden = self._encode("token_type_ids")
        self._node("Concat", ["shape", self._integers("ends", [2])], "by_end", axis=0)
        self._node("Reshape", [self._linear(hidden, "span"), "by_end"], "span")
        self._node("Reshape", [hidden, "by_text"], "tokens_of_texts")
        # [CLS]: shape (texts, 1, 384), then (texts, 384).
        self._integers("second", [1])
        self._node("Slice", ["tokens_of_texts", "first", "second", "second"], "first_tokens")
        self._node("Squeeze", ["first_tokens", "second"], "summaries")
        self._node("Gemm", ["summaries", *self._weights("answerable")], "answerable", transB=1)
        return self._graph(
            "span reader",
            ["input_ids", "attention_mask", "token_type_ids"],
            {"span": ["texts", "tokens", 2], "answerable": ["texts", 1]},
        )

    def write_sentence_judge(self) -> GraphProto:
        hidden = self._encode("token_type_ids")
        self._node("Concat", ["shape", self._integers("columns", [1])], "by_token_of_text", axis=0)
        self._node("Reshape", [self._linear(hidden, "tells"), "by_token_of_text"], "tells")
        return self._graph(
            "judge of sentences",
            ["input_ids", "attention_mask", "token_type_ids"],
            {"tells": ["texts", "tokens", 1]},
        )

    def _graph(self, name: str, inputs: Sequence[str], outputs: Mapping[str, Sequence[str | int]]) -> GraphProto:
        return helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(one, TensorProto.INT64, ["texts", "tokens"]) for one in inputs],
            [helper.make_tensor_value_info(one, TensorProto.FLOAT, shape) for one, shape in outputs.items()],
            list(self.initializers.values()),
        )

    def _encode(self, types: str) -> str:
        """Add all layers. types names the tensor with the token type of each token."""
        self._shapes()
        hidden = self._embeddings(types)
        for number in range(_LAYERS):
            hidden = self._layer(f"encoder.layer.{number}", hidden)
        return hidden

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

    def _embeddings(self, types: str) -> str:
        self._node("Gather", [self._weight("embeddings.word_embeddings.weight"), "input_ids"], "words")
        first, positions = self._integers("first", [0]), self._weight("embeddings.position_embeddings.weight")
        self._node("Slice", [positions, first, "tokens"], "positions")
        self._node("Gather", [self._weight("embeddings.token_type_embeddings.weight"), types], "type")
        self._node("Add", ["positions", "type"], "places")
        self._node("Add", ["words", "places"], "embedded")
        rows = self._node("Reshape", ["embedded", "by_token"], "embedded_rows")
        return self._normalize(rows, "embeddings.LayerNorm")

    def _layer(self, name: str, hidden: str) -> str:
        """Add one layer of the encoder on the rows of all tokens of all texts: shape (texts * tokens, 384)."""
        queries, keys, values = self._attention(hidden, f"{name}.attention.self")
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

    def _attention(self, hidden: str, name: str) -> Sequence[str]:
        """Add the layers of queries, keys and values; `round_weights` makes one layer of all three."""
        if not self._has(f"{name}.columns"):
            return [self._linear(hidden, f"{name}.{part}") for part in _ATTENTION]
        parts = [f"{name}.{part}.out" for part in _ATTENTION]
        self._node("Split", [self._linear(hidden, name)], *parts, axis=1, num_outputs=len(parts))
        return parts

    def _pool(self, hidden: str) -> None:
        """Add the mean over a text's tokens with unit length. The sum is used, because it has the same direction."""
        self._node("Reshape", [hidden, "by_text"], "tokens_of_texts")
        self._node("Unsqueeze", ["mask", self._integers("rows", [1])], "mask_rows")
        self._node("MatMul", ["mask_rows", "tokens_of_texts"], "sum_rows")
        self._node("Squeeze", ["sum_rows", "rows"], "sums")
        self._node("LpNormalization", ["sums"], "embedding", axis=-1, p=2)

    def _heads(self, rows: str, order: Sequence[int]) -> str:
        """Arrange rows by text and head: shape (texts, tokens, heads, 32), with its axes reordered."""
        parted = self._node("Reshape", [rows, "by_head"], f"{rows}.by_head")
        return self._node("Transpose", [parted], f"{rows}.heads", perm=order)

    def _linear(self, rows: str, name: str) -> str:
        if self.in_int8 and (self._has(f"{name}.columns") or self._has(f"{name}.scale")):
            return self._int8_linear(rows, name)
        return self._node("Gemm", [rows, *self._weights(name)], f"{name}.out", transB=1)

    def _int8_linear(self, rows: str, name: str) -> str:
        """Add a layer that multiplies rows as 8-bit integers, and scales and adds in float32."""
        columns, scales, bias = *self._columns(name), self._tensor(f"{name}.bias")
        if rows not in self.quantized:
            self.quantized[rows] = self._quantize(rows)
        inputs, input_scale = self.quantized[rows]
        operands = [inputs, columns, self._number("one", 1.0), scales, "uint8_zero"]
        product = self._node("MatMulIntegerToFloat", operands, f"{name}.product", domain=_RUNTIME)
        product = self._node("Mul", [product, input_scale], f"{product}.by_row")
        return self._node("Add", [product, bias], f"{name}.out")

    def _columns(self, name: str) -> tuple[str, str]:
        """Name the 8-bit columns of a layer and their scales.

        Files of trained networks have rows instead, which are turned once, when the graph is loaded.
        """
        if self._has(f"{name}.columns"):
            return self._tensor(f"{name}.columns"), self._tensor(f"{name}.scales")
        scales = [self._tensor(f"{name}.scale"), self._integers("flat", [-1])]
        return (
            self._node("Transpose", [self._tensor(f"{name}.weight")], f"{name}.columns", perm=[1, 0]),
            self._node("Reshape", scales, f"{name}.scales"),
        )

    def _quantize(self, rows: str) -> tuple[str, str]:
        """Convert rows to unsigned 8-bit integers around 128, and a scale for each row."""
        sizes = self._node("Abs", [rows], f"{rows}.sizes")
        columns = self._integers("columns", [1])
        largest = self._node("ReduceMax", [sizes, columns], f"{rows}.largest", keepdims=0)
        scale = self._node("Mul", [largest, self._number("of_int8", 1 / _LARGEST_INT8)], f"{rows}.scale")
        scale = self._node("Add", [scale, self._number("smallest_scale", _SMALLEST_SCALE)], f"{rows}.nonzero_scale")
        if "uint8_zero" not in self.initializers:
            self.initializers["uint8_zero"] = helper.make_tensor("uint8_zero", TensorProto.UINT8, [], [_UINT8_ZERO])
            self._node("Expand", ["uint8_zero", self._node("Shape", [scale], "count")], "uint8_zeros")
        integers = self._node("QuantizeLinear", [rows, scale, "uint8_zeros"], f"{rows}.uint8", axis=0)
        return integers, self._node("Unsqueeze", [scale, columns], f"{scale}.of_row")

    def _residual(self, rows: str, hidden: str, name: str) -> str:
        added = self._node("Add", [rows, hidden], f"{name}.added")
        return self._normalize(added, f"{name}.LayerNorm")

    def _normalize(self, rows: str, name: str) -> str:
        inputs = [rows, *self._weights(name)]
        return self._node("LayerNormalization", inputs, f"{name}.out", axis=-1, epsilon=_EPSILON)

    def _weights(self, name: str) -> tuple[str, str]:
        return self._weight(f"{name}.weight"), self._weight(f"{name}.bias")

    def _weight(self, name: str) -> str:
        """Name a tensor; one of 8-bit integers is multiplied by its scales, once, when the graph is loaded."""
        scale = f"{name.removesuffix('.weight')}.scale"
        if not self._has(scale):
            return self._tensor(name)
        whole = self._node("Cast", [self._tensor(name)], f"{name}.cast", to=TensorProto.FLOAT)
        return self._node("Mul", [whole, self._tensor(scale)], f"{name}.scaled")

    def _tensor(self, name: str) -> str:
        """Name a tensor of the first file that has it."""
        next(file for file in self.files if name in file.header).name_in(self.initializers, name)
        return name

    def _has(self, name: str) -> bool:
        return any(name in file.header for file in self.files)

    def _integers(self, name: str, values: Sequence[int]) -> str:
        self.initializers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def _number(self, name: str, value: float) -> str:
        self.initializers[name] = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        return name

    def _node(self, operator: str, inputs: Iterable[str], *outputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as onnx has it
        self.nodes.append(helper.make_node(operator, list(inputs), list(outputs), **attributes))
        return outputs[0]
