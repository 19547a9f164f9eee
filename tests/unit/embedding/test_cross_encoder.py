"""Real models of the library, small ones with random weights."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.embedding import cross_encoder
from pgclarify.embedding.cross_encoder import CrossEncoders, SentenceTransformerCrossEncoder
from pgclarify.embedding.loading import load_cross_encoder, load_model
from pgclarify.errors import EmbeddingError, ModelNotFound
from pgclarify.protocols import CrossEncoder
from tests.unit.embedding.small_cross_encoder import save_cross_encoder

pytestmark = pytest.mark.slow

PAIRS = [
    ("when did it open ?", "the bridge opened in 1902"),
    ("when did it open ?", "cheese is made of milk"),
    ("when", "the bridge " * 100),
    ("a", "a"),
    ("is it a bridge ?", "cheese is cheese"),
]
NLI = ("contradiction", "ENTAILMENT", "neutral")
Open = Callable[[str], SentenceTransformerCrossEncoder]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Paths of a reranker, a judge of inference, and models that look similar but are neither."""
    folder = tmp_path_factory.mktemp("cross_encoders")
    return {
        "reranker": save_cross_encoder(folder / "reranker"),
        "judge": save_cross_encoder(folder / "judge", NLI),
        "two": save_cross_encoder(folder / "two", ("not_entailment", "entailment")),
        "moods": save_cross_encoder(folder / "moods", ("glad", "sad")),
        "half": save_cross_encoder(folder / "half", dtype="bfloat16"),
        "headless": save_cross_encoder(folder / "headless", has_head=False),
    }


@pytest.fixture
def opened() -> Iterator[Open]:
    """Loads models, and closes them at the end."""
    loaded: list[SentenceTransformerCrossEncoder] = []

    def load(path: str) -> SentenceTransformerCrossEncoder:
        loaded.append(SentenceTransformerCrossEncoder(path))
        return loaded[-1]

    yield load
    for each in loaded:
        each.close()


def logits(path: str) -> NDArray[np.float64]:
    """The model's raw output for each pair alone, without the library and our code."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForSequenceClassification.from_pretrained(path).float().eval()
    with torch.inference_mode():
        rows = [model(**tokenizer(*pair, return_tensors="pt", truncation=True)).logits[0] for pair in PAIRS]
    return np.stack([row.numpy() for row in rows]).astype(np.float64)


@pytest.mark.parametrize("name", ["reranker", "half"])
async def test_relevance_is_the_logistic_function_of_the_logit(models: dict[str, str], opened: Open, name: str) -> None:
    encoder: CrossEncoder = opened(models[name])
    scores = await encoder.relevance(PAIRS)
    np.testing.assert_allclose(scores, 1 / (1 + np.exp(-logits(models[name])[:, 0])), atol=1e-4)
    assert len(set(scores)) == len(PAIRS)


@pytest.mark.parametrize("activation", ["linear.Identity", "activation.Sigmoid"])
async def test_the_activation_of_a_model_does_not_change_its_relevance(
    models: dict[str, str], opened: Open, tmp_path: Path, activation: str
) -> None:
    path = shutil.copytree(models["reranker"], tmp_path / "model")
    config = json.loads((path / "config.json").read_text())
    config["sentence_transformers"] = {"activation_fn": f"torch.nn.modules.{activation}"}
    (path / "config.json").write_text(json.dumps(config))
    assert await opened(str(path)).relevance(PAIRS) == await opened(models["reranker"]).relevance(PAIRS)


@pytest.mark.parametrize("name", ["judge", "two"])
async def test_entailment_is_found_wherever_it_stands_among_the_labels(
    models: dict[str, str], opened: Open, name: str
) -> None:
    judged = await opened(models[name]).entails(PAIRS)
    assert judged == (logits(models[name]).argmax(axis=1) == 1).tolist()
    assert set(judged) == {True, False}


async def test_company_in_a_batch_does_not_change_an_output(models: dict[str, str], opened: Open) -> None:
    encoder = opened(models["reranker"])
    together, *alone = await asyncio.gather(encoder.relevance(PAIRS), *(encoder.relevance([pair]) for pair in PAIRS))
    np.testing.assert_allclose(together, np.ravel(alone), atol=1e-5)


@pytest.mark.parametrize("name", ["judge", "two", "moods"])
async def test_a_model_with_several_outputs_is_refused_as_reranker(
    models: dict[str, str], opened: Open, name: str
) -> None:
    with pytest.raises(EmbeddingError, match="does not score relevance"):
        await opened(models[name]).relevance([])


@pytest.mark.parametrize(("name", "labels"), [("moods", "glad, sad"), ("reranker", "LABEL_0")])
async def test_a_model_without_entailment_is_refused_with_its_labels(
    models: dict[str, str], opened: Open, name: str, labels: str
) -> None:
    with pytest.raises(EmbeddingError, match="does not tell entailment") as caught:
        await opened(models[name]).entails([])
    assert labels in (caught.value.detail or "")


async def test_text_beyond_the_limit_of_a_model_does_not_change_relevance(models: dict[str, str], opened: Open) -> None:
    encoder = opened(models["reranker"])
    # Spaces are not tokens: without truncation, the model would read the word after them.
    far = " " * 10_000 + "cheese"
    for beyond, without in ((("when", far), ("when", "")), ((far, "when"), ("", "when"))):
        assert await encoder.relevance([beyond]) == await encoder.relevance([without])


async def test_numbers_that_are_none_are_no_scores(models: dict[str, str], opened: Open, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    path = shutil.copytree(models["reranker"], tmp_path / "model")
    weights = load_file(path / "model.safetensors")
    weights["classifier.bias"] = torch.full_like(weights["classifier.bias"], float("nan"))
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EmbeddingError, match="not finite"):
        await opened(str(path)).relevance(PAIRS)


@pytest.mark.parametrize("way", ["auto_map", "modules"])
def test_code_that_comes_with_a_model_is_not_run(models: dict[str, str], tmp_path: Path, way: str) -> None:
    path = shutil.copytree(models["reranker"], tmp_path / "model")
    trace = tmp_path / "was-run"
    (path / "strange.py").write_text(f"open({str(trace)!r}, 'w').close()\nclass Strange: pass\n")
    if way == "auto_map":
        config = json.loads((path / "config.json").read_text())
        config |= {"auto_map": {"AutoConfig": "strange.Strange"}, "model_type": "strange"}
        (path / "config.json").write_text(json.dumps(config))
    else:
        (path / "config_sentence_transformers.json").write_text('{"model_type": "CrossEncoder"}')
        (path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "strange.Strange"}]))
    with pytest.raises(ModelNotFound):
        SentenceTransformerCrossEncoder(str(path))
    assert not trace.exists()


def test_a_function_that_a_model_names_is_not_called(
    models: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    # Any function of torch can be named, also one that reads the command line of the worker, or ends it.
    calls: list[str] = []
    monkeypatch.setattr(torch, "seed", lambda: calls.append("seed"))
    path = shutil.copytree(models["reranker"], tmp_path / "model")
    config = json.loads((path / "config.json").read_text())
    config["sentence_transformers"] = {"activation_fn": "torch.seed"}
    (path / "config.json").write_text(json.dumps(config))

    load_cross_encoder(str(path))

    assert not calls


def test_a_file_that_is_named_as_a_model_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sentence_transformers

    # It may be larger than the memory.
    path = tmp_path / "large.gguf"
    path.touch()
    monkeypatch.setattr(sentence_transformers, "CrossEncoder", lambda *given, **options: given)

    with pytest.raises(ModelNotFound):
        load_cross_encoder(str(path))


@pytest.mark.parametrize("load", [load_model, load_cross_encoder])
def test_an_error_does_not_tell_which_paths_exist(load: Callable[[str], object], tmp_path: Path) -> None:
    told = []
    for name in ("nothing", "folder", "file", "broken"):
        path = tmp_path / name
        if name == "file":
            path.write_text("{}")
        elif name != "nothing":
            path.mkdir()
        if name == "broken":
            (path / "config.json").write_text("no JSON")
        with pytest.raises(ModelNotFound) as caught:
            load(str(path))
        told.append(f"{caught.value.message} {caught.value.detail} {caught.value.hint}".replace(str(path), "PATH"))
    assert len(set(told)) == 1


async def test_the_log_tells_why_a_model_could_not_be_loaded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "config.json").write_text("no JSON")
    kept = CrossEncoders()
    try:
        with pytest.raises(ModelNotFound) as caught:
            await kept.get(str(tmp_path))
    finally:
        kept.close()
    (record,) = [record for record in caplog.records if record.name.startswith("pgclarify")]
    assert repr(caught.value.__cause__) in record.getMessage()


async def test_with_too_many_in_use_another_is_refused_until_one_is_free(
    models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_encoder, "_MOST_LOADED", 1)
    monkeypatch.setattr(cross_encoder, "_MOST_LEAVING", 1)
    kept = CrossEncoders()
    try:
        held = [await kept.get(models[name]) for name in ("reranker", "judge")]
        with pytest.raises(EmbeddingError, match="no room") as caught:
            await kept.get(models["two"])
        assert caught.value.hint
        # A loaded model needs no further room.
        assert await kept.get(models["reranker"]) is held[0]
        del held
        assert (await kept.get(models["two"])).model == models["two"]
        assert kept.loaded == [models["two"]]
    finally:
        kept.close()
