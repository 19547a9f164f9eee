"""Configurations from files and grids, and invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgclarify.errors import InputError, UnreadableFile
from pgclarify.evaluation.configurations import (
    Configuration,
    check_provider,
    detail_of,
    follows_links,
    read_configurations,
)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def names(paths: list[Path], *grid: str, method: str | None = None) -> list[str]:
    return [one.name for one in read_configurations(paths, grid, method=method)]


def test_without_anything_it_is_clarify_as_it_comes() -> None:
    assert read_configurations([], []) == [Configuration("clarify", "clarify")]
    assert read_configurations([], [], method="search") == [Configuration("search", "search")]


def test_a_grid_is_every_value_with_every_other() -> None:
    found = read_configurations([], ["top_k=10,20", "singletons=keep,drop"])
    assert [one.name for one in found] == [
        "clarify top_k=10 singletons=keep",
        "clarify top_k=10 singletons=drop",
        "clarify top_k=20 singletons=keep",
        "clarify top_k=20 singletons=drop",
    ]
    assert found[1].settings == {"top_k": 10, "singletons": "drop"}


def test_values_are_json_if_they_can_be() -> None:
    (one,) = read_configurations([], ["threshold=0.5", 'search="dense"', "penalty=false"])
    assert one.settings == {"threshold": 0.5, "search": "dense", "penalty": False}
    assert one.name == "clarify threshold=0.5 search=dense penalty=false"


def test_files(tmp_path: Path) -> None:
    named = write(tmp_path, "a.toml", 'name = "ours"\njudge = "model"\n[options]\ntop_k = 20\nsearch = "dense"\n')
    bare = write(tmp_path, "b.toml", 'method = "rac"\n[options]\ntop_k = 10\n')
    assert read_configurations([named, bare], []) == [
        Configuration("ours", "clarify", "model", {"top_k": 20, "search": "dense"}),
        Configuration("rac top_k=10", "rac", None, {"top_k": 10}),
    ]
    assert names([named, bare], "top_k=5,6") == ["ours top_k=5", "ours top_k=6", "rac top_k=5", "rac top_k=6"]
    assert read_configurations([named], ["top_k=5"])[0].settings == {"top_k": 5, "search": "dense"}


def test_baselines_have_defaults() -> None:
    (one,) = read_configurations([], ["passages_kept=3"], method="dtv")
    assert one.settings == {"passages_kept": 3}
    assert one.with_defaults() == {"passages_each": 5, "passages_kept": 3, "search": "hybrid", "verifier": None}


@pytest.mark.parametrize(
    "grid",
    [
        ["top_k"],
        ["=1"],
        ["top_k="],
        ["top_k=1,1"],
        ["top_k=1", "top_k=2"],
        ["top_k=null"],
        ["top_k=many"],
        ["top_k=true"],
        ["top_k=1.5"],
        ["top_k=0"],
        ["top_k=1001"],
        ["x=1e999"],
        ["x={}"],
        ["timeout=60s"],
        ["corpus=other"],
        ["question=other"],
        [f"{name}=1,2,3" for name in "abcde"],
    ],
)
def test_what_is_no_grid(grid: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_configurations([], grid)
    assert caught.value.hint or caught.value.detail


@pytest.mark.parametrize(
    ("method", "grid"),
    [
        ("guess", []),
        ("dtv", ["top_k=5"]),
        ("dtv", ["passages_kept=0"]),
        ("dtv", ["verifier=4"]),
        ("dtv", ["verifier=null"]),
        ("dtv", ["verifier= "]),
        ("dtv_unverified", ["verifier=gpt"]),
        ("rac", ["search=adaptive"]),
        ("rac", ["topk=5"]),
        ("one_pass", ["max_steps=2"]),
        ("self_ask", ["max_steps=0"]),
        ("list_at_once", ["evidence_tokens=99"]),
        ("list_at_once", ["max_answers=51"]),
        ("human", ["top_k=all"]),
        ("always_rewrite", ["top_k=5"]),
        ("clarifying_questions", ["conversation=5"]),
    ],
)
def test_methods_that_are_ours_are_checked_here(method: str, grid: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_configurations([], grid, method=method)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        'nam = "x"\n',
        "name = 3\n",
        'options = "x"\n',
        'name = "a\\u0000b"\n',
        'judge = "me"\n',
        'method = "guess"\n',
        "[options]\ntop_k = [10, 20]\n",
        "[options]\ntop_k = 2026-01-01\n",
        "[options.deep]\nx = 1\n",
        "[options]\nx = nan\n",
    ],
)
def test_what_is_no_configuration_is_named_with_its_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"x\.toml"):
        read_configurations([write(tmp_path, "x.toml", text)], [])


def test_messages_begin_with_a_word_and_quote_what_is_a_text(tmp_path: Path) -> None:
    for text in ("x = 1", "top_k: 20", 'method = "guess"'):
        with pytest.raises((InputError, UnreadableFile)) as caught:
            read_configurations([write(tmp_path, "x.toml", text)], [])
        assert not caught.value.message.startswith(str(tmp_path))
    with pytest.raises(InputError) as refused:
        read_configurations([], ['top_k="30"'])
    assert refused.value.detail == 'It is "30".'


def test_a_number_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must not be a number"):
        read_configurations([write(tmp_path, "x.toml", 'name = "12"')], [])
    assert names([write(tmp_path, "x.toml", 'name = "12b"')]) == ["12b"]


@pytest.mark.parametrize(
    ("method", "grid", "is_refused"),
    [
        ("list_answers", [], True),
        ("investigate", [], True),
        ("search", ["reranker=model"], True),
        ("search", ["reranker=signal"], False),
        ("clarify", [], False),
        ("detect_ambiguity", [], False),
    ],
)
def test_what_takes_a_language_model_is_refused_where_there_is_none(
    method: str, grid: list[str], *, is_refused: bool
) -> None:
    (one,) = read_configurations([], grid, method=method)
    check_provider(one, "openai")
    if is_refused:
        with pytest.raises(InputError, match="takes a language model"):
            check_provider(one, "extractive")
    else:
        check_provider(one, "extractive")


@pytest.mark.parametrize(
    ("method", "grid", "expected"),
    [
        ("investigate", [], True),
        ("investigate", ["retrieval=fixed"], False),
        ("clarify", ["retrieval=adaptive"], True),
        ("clarify", [], False),
        ("search", ["method=adaptive"], True),
        ("search", ["method=dense"], False),
        ("rac", [], False),
    ],
)
def test_what_needs_a_complete_graph(method: str, grid: list[str], *, expected: bool) -> None:
    (one,) = read_configurations([], grid, method=method)
    assert follows_links(one) is expected


def test_the_options_that_are_told_are_those_of_a_configuration() -> None:
    unknown = InputError("unknown option", detail="Any.", choices=["budget", "search", "timeout"])
    assert detail_of(unknown) == "The options are: budget, search, top_k."
    assert detail_of(InputError("a wrong value", detail="It is 3.")) == "It is 3."
    assert detail_of(InputError("a wrong value")) is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no TOML"):
        read_configurations([write(tmp_path, "x.toml", "top_k: 20")], [])
    (tmp_path / "y.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(UnreadableFile):
        read_configurations([tmp_path / "y.toml"], [])
    with pytest.raises(UnreadableFile):
        read_configurations([tmp_path / "nowhere.toml"], [])
    with pytest.raises(InputError):
        read_configurations([write(tmp_path, "z.toml", "")], [], method="clarify")


def test_no_two_are_the_same_or_have_one_name(tmp_path: Path) -> None:
    first = write(tmp_path, "a.toml", 'name = "a"\n[options]\ntop_k = 20\n')
    same = write(tmp_path, "b.toml", 'name = "b"\n[options]\ntop_k = 20\n')
    other = write(tmp_path, "c.toml", 'name = "a"\n[options]\ntop_k = 30\n')
    with pytest.raises(InputError, match="the same"):
        read_configurations([first, same], [])
    with pytest.raises(InputError, match="one name"):
        read_configurations([first, other], [])
    assert (
        len(read_configurations([first, write(tmp_path, "d.toml", 'name="d"\njudge="model"\n[options]\ntop_k=20')], []))
        == 2
    )


def test_long_names_are_cut() -> None:
    (one,) = read_configurations([], [f"reranker={'x' * 300}"])
    assert len(one.name) == 200


def test_true_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('name = "a"\n[options]\nx = true\n')
    (tmp_path / "b.toml").write_text('name = "b"\n[options]\nx = 1\n')
    assert len(read_configurations([tmp_path / "a.toml", tmp_path / "b.toml"], [])) == 2
