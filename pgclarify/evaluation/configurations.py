"""Configurations: a method with its parameters, from TOML files and grids of values."""

from __future__ import annotations

import itertools
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NoReturn

from pgclarify.errors import InputError, UnreadableFile

DEFAULT_METHOD: Final = "clarify"
JUDGES: Final = ("lexical", "model", "both")
# The provider of workers that ask no language model.
EXTRACTIVE: Final = "extractive"
# The options of methods that are no operations of the SQL API, with their defaults. A number is from 1 to 1000, unless
# _BOUNDS has other limits. The search is one of SEARCHES; the verifier is the name of a model. SQL defines the options
# of all other methods.
BASELINE_SETTINGS: Final[Mapping[str, Mapping[str, object]]] = {
    "dtv": {"passages_each": 5, "passages_kept": 5, "search": "hybrid", "verifier": None},
    "dtv_unverified": {"passages_each": 5, "passages_kept": 5, "search": "hybrid"},
    "rac": {"top_k": 20, "search": "hybrid"},
    "one_pass": {"top_k": 10, "search": "hybrid"},
    "self_ask": {"top_k": 10, "max_steps": 4, "search": "hybrid"},
    "list_at_once": {"top_k": 20, "evidence_tokens": 100_000, "max_answers": 10, "search": "hybrid"},
    "rewrite_ambiguous": {},
    "always_rewrite": {},
    "few_shot": {},
    "logistic_regression": {},
    "human": {"top_k": 20, "search": "hybrid"},
}
OPERATIONS: Final = (
    "clarify",
    "list_answers",
    "investigate",
    "search",
    "detect_ambiguity",
    "rewrite",
    "clarifying_questions",
)
# This method takes the options of clarifying_questions, which the server checks.
SIMULATED_USER: Final = "simulated_user"
METHODS: Final = (*OPERATIONS, SIMULATED_USER, *BASELINE_SETTINGS)
# Methods that rewrite a question so that it is complete by itself, and search with the result.
REWRITING: Final = frozenset({"rewrite", "rewrite_ambiguous", "always_rewrite", "few_shot", "logistic_regression"})
SEARCHES: Final = ("hybrid", "dense", "lexical")
# The limits of list_answers in SQL.
_BOUNDS: Final = {"evidence_tokens": (100, 100_000), "max_answers": (1, 50)}
_MOST_PASSAGES = 1_000
_MOST_CONFIGURATIONS = 100
# The limit of eval_run.name.
_LONGEST_NAME = 200
_FILE_KEYS = ("name", "method", "judge", "options")
# An evaluation sets these itself.
_NOT_SETTINGS = ("timeout", "corpus", "question", "history", "conversation")
# Operations that workers without a language model refuse, with any options.
OF_A_LANGUAGE_MODEL: Final = frozenset({"list_answers", "investigate", "clarifying_questions", SIMULATED_USER})


@dataclass(frozen=True, slots=True)
class Configuration:
    """One method with its parameters.

    Attributes:
        name: A unique name.
        method: One of METHODS.
        judge: One of JUDGES; None for the judge of the command.
        settings: The given parameters.
    """

    name: str
    method: str
    judge: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def with_defaults(self) -> Mapping[str, Any]:
        """Return all parameters, with defaults, of a method that is not an operation of the SQL API."""
        return {**BASELINE_SETTINGS.get(self.method, {}), **self.settings}


def read_configurations(
    paths: Sequence[Path], grid: Sequence[str], *, method: str | None = None
) -> list[Configuration]:
    """Read configurations, each with every combination of the grid's values.

    Args:
        paths: TOML files, each with any of `name`, `method`, `judge` and a table `options`.
        grid: NAME=VALUE,VALUE,...; a value is JSON if it parses as JSON, else text. It replaces the value of a file.
        method: The method, if there is no file.

    Returns:
        At least one configuration, with different names. Without files, it has the given method, or clarify.

    Raises:
        InputError: If one cannot be read or used, two are equal, or there are more than 100.
    """
    if paths and method is not None:
        raise InputError("give either files or a method", hint='Write method = "…" into the files.')
    # A configuration without a name is named after all its options; one with a name, after its name and grid values.
    bases = [_read(path) for path in paths] or [checked(Configuration("", method or DEFAULT_METHOD))]
    values = read_grid(grid)
    count = len(bases) * math.prod(len(those) for those in values.values())
    if count > _MOST_CONFIGURATIONS:
        raise InputError(
            "there are too many configurations",
            detail=f"They are {count:,}, every value with every other; {_MOST_CONFIGURATIONS} is the most.",
            hint="Choose fewer values, or one option after the other: the best of the first, then the next.",
        )
    chosen = [
        _varied(base, dict(zip(values, combination, strict=True)))
        for base in bases
        for combination in itertools.product(*values.values())
    ]
    _check_different(chosen)
    return chosen


def check_name(name: str) -> None:
    """Check that a name cannot be confused with the id of an evaluation.

    Raises:
        InputError: If the name is a number.
    """
    if name.isdecimal():
        raise InputError("a name must not be a number", detail=f"It is {name!r}.", hint="Numbers are ids; add a word.")


def follows_links(one: Configuration) -> bool:
    """Return whether a configuration uses the graph of a corpus, so that its figures need a complete graph."""
    match one.method:
        case "search":
            return one.settings.get("method") == "adaptive"
        case "clarify":
            return one.settings.get("retrieval") == "adaptive"
        case "investigate":
            return one.settings.get("retrieval") != "fixed"
        case _:
            return False


def check_provider(one: Configuration, provider: str) -> None:
    """Check that workers can carry out a configuration.

    Args:
        one: The configuration.
        provider: The provider of the workers.

    Raises:
        InputError: If it needs a language model, and the workers have none.
    """
    if provider != EXTRACTIVE:
        return
    takes = f"the method {one.method}" if one.method in OF_A_LANGUAGE_MODEL else 'the reranker "model"'
    if one.method in OF_A_LANGUAGE_MODEL or one.settings.get("reranker") == "model":
        raise InputError(
            f"{takes} takes a language model, and the worker has none",
            detail=f"Its provider is {EXTRACTIVE}.",
            hint="Set OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL, for the worker, and start it again.",
        )


def detail_of(error: InputError) -> str | None:
    """Return the detail of a server error, with the available options in the terms of a configuration.

    For the server, top_k is an argument and no option, and some of its options do not apply to configurations.
    """
    if not error.choices:
        return error.detail
    return f"The options are: {', '.join(sorted({*error.choices, 'top_k'} - set(_NOT_SETTINGS)))}."


def _varied(base: Configuration, given: Mapping[str, Any]) -> Configuration:
    settings = {**base.settings, **given}
    told = given if base.name else settings
    words = [base.name or base.method, *(f"{name}={_spelt(value)}" for name, value in told.items())]
    name = " ".join(words)
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME - 1] + "…"
    return checked(replace(base, name=name, settings=settings))


def _spelt(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _quoted(value: object) -> str:
    """Return a value for display, with a text in quotes."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _check_different(configurations: Sequence[Configuration]) -> None:
    named: dict[str, Configuration] = {}
    for one in configurations:
        other = named.setdefault(one.name, one)
        if other is not one:
            raise InputError(
                "two configurations have one name",
                detail=f"It is {one.name!r}.",
                hint='Leave one out, or write another name = "…" into its file.',
            )
    for first, second in itertools.combinations(configurations, 2):
        if _told_apart_by(first) == _told_apart_by(second):
            raise InputError(
                "two configurations are the same",
                detail=f"They are {first.name!r} and {second.name!r}.",
                hint="Leave one out.",
            )


def _told_apart_by(one: Configuration) -> tuple[str, str | None, str]:
    # Compared as JSON, because true equals 1 in Python.
    return one.method, one.judge, json.dumps(one.settings, sort_keys=True)


def _read(path: Path) -> Configuration:
    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except OSError as error:
        raise UnreadableFile(
            f"cannot read {path}", detail=f"{error.strerror or error}.", hint="Name a TOML file."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(
            f"the file {path} is no TOML",
            detail=f"{str(error).rstrip('.')}.",
            hint='Write lines such as method = "clarify", then [options], then top_k = 20.',
        ) from error
    try:
        return _configuration(given)
    except ValueError as error:
        raise InputError(f"the file {path} is no configuration", detail=str(error), hint=_FILE_HINT) from None
    except InputError as error:
        raise InputError(f"in {path}: {error.message}", detail=error.detail, hint=error.hint) from None


_FILE_HINT = "It may have name, method and judge, each a text, and a table [options] with options of the method."


def _configuration(given: Mapping[str, Any]) -> Configuration:
    for key, value in given.items():
        if key not in _FILE_KEYS:
            raise ValueError(f"There is no key {key!r}.")
        if not isinstance(value, dict if key == "options" else str):
            raise ValueError(f"The key {key} has a value of another kind.")
    if "\x00" in given.get("name", ""):
        raise ValueError("The name has a NUL character in it.")
    return checked(
        Configuration(
            given.get("name", "").strip()[:_LONGEST_NAME],
            given.get("method", DEFAULT_METHOD),
            given.get("judge"),
            given.get("options", {}),
        )
    )


def read_grid(grid: Sequence[str]) -> dict[str, list[Any]]:
    """Read NAME=VALUE,VALUE,...: the values of each option.

    Raises:
        InputError: If an argument has another form, or a name or a value is given twice.
    """
    values: dict[str, list[Any]] = {}
    for given in grid:
        name, equals, text = given.partition("=")
        if not equals or not name or not text:
            raise InputError(
                "this gives no option values", detail=f"It says {given!r}.", hint="Write NAME=VALUE,VALUE."
            )
        if name in values:
            raise InputError(
                f"the option {name} is given twice", hint=f"Write all its values at once: {name}=VALUE,VALUE."
            )
        values[name] = [_value(one) for one in text.split(",")]
        spelt = [_spelt(one) for one in values[name]]
        if len(set(spelt)) < len(spelt):
            raise InputError(f"the option {name} has one value twice", detail=f"It says {given!r}.")
    return values


def _value(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def checked(one: Configuration) -> Configuration:
    """Check the parts of a configuration that SQL does not check, and return it.

    Raises:
        InputError: If a method, judge or parameter does not exist or cannot be used.
    """
    check_name(one.name)
    if one.method not in METHODS:
        raise InputError(f"there is no method {one.method!r}", hint=f"The methods are {', '.join(METHODS)}.")
    if one.judge is not None and one.judge not in JUDGES:
        raise InputError(f"there is no judge {one.judge!r}", hint=f"The judges are {', '.join(JUDGES)}.")
    known = BASELINE_SETTINGS.get(one.method)
    for name, value in one.settings.items():
        if name in _NOT_SETTINGS:
            raise InputError(
                f'option "{name}" is no part of a configuration',
                hint="Questions come from the data set, the corpus from --corpus; an evaluation waits for all answers.",
            )
        if not isinstance(value, str | int | float | bool) or (isinstance(value, float) and not math.isfinite(value)):
            raise InputError(
                f'option "{name}" has a wrong value',
                detail=f"It is {_quoted(value)}.",
                hint="Give a text, a number, true or false.",
            )
        if known is not None and name not in known:
            raise InputError(
                f"the method {one.method} has no option {name!r}",
                hint=f"Its options are {', '.join(sorted(known))}. Check its spelling.",
            )
        # An argument of SQL has a type, so a wrong value would fail before SQL could report it.
        if known is not None or name == "top_k":
            _check_own_setting(name, value)
    return one


def _check_own_setting(name: str, value: object) -> None:
    if name == "search":
        is_right, hint = value in SEARCHES, f"Pass one of {', '.join(SEARCHES)}."
    elif name == "verifier":
        is_right = isinstance(value, str) and bool(value.strip()) and "\x00" not in value
        hint = "Pass the name of a model that the endpoint serves, or leave it out."
    else:
        least, most = _BOUNDS.get(name, (1, _MOST_PASSAGES))
        is_right = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        hint = f"Pass a whole number from {least} to {most}."
    if not is_right:
        raise InputError(f'option "{name}" has a wrong value', detail=f"It is {_quoted(value)}.", hint=hint)
