"""A form is read strictly from a reply, and an error says why it cannot be read."""

import importlib
import inspect
import json
from pkgutil import iter_modules
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pgclarify import prompts
from pgclarify.data.model_calls import Completion
from pgclarify.errors import InvalidReply, describe
from pgclarify.prompts.replies import LineOrNull, one_for_each, read_form


class Form(BaseModel):
    answer: str


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answer: str | None = None
    parts: list["Strict"] = []


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ('{"secret": 1}', ""),
        ('{"parts": [{}, {"secret": 1}]}', "parts.1: "),
        ('{"parts": [{"answer": {"secret": 1}}]}', "parts.0.answer: "),
        ("secret", ""),
    ],
)
def test_the_detail_has_the_place_but_no_word_of_the_reply(reply: str, place: str) -> None:
    with pytest.raises(InvalidReply) as caught:
        read_form(Strict, Completion(reply, None, None, 1.0))
    assert (caught.value.detail or "").startswith(place)
    assert "secret" not in describe(caught.value)
    assert "secret" in describe(caught.value, with_reply=True)


@pytest.mark.parametrize(
    ("reply", "finish_reason", "cause"),
    [
        ("", "stop", "empty"),
        ("", "length", "all its tokens before its answer began"),
        ('{"answer": "thirty d', "length", "all its tokens before its answer was complete"),
        ("{}", "length", "all its tokens before its answer was complete"),
        ('{"answer": "thirty d', None, "breaks off"),
        ("I cannot help with that.", "stop", "refused"),
        ('{"answer": "35"}\nNo, that is wrong: it is 48.', "stop", "take it back"),
        ('First idea: {"answer": "35"} 不对', "stop", "take it back"),
    ],
)
def test_the_error_says_whether_a_reply_was_cut_off_or_refused(
    reply: str, finish_reason: str | None, cause: str
) -> None:
    with pytest.raises(InvalidReply) as caught:
        read_form(Form, Completion(reply, None, None, 1.0, finish_reason=finish_reason))
    assert cause in (caught.value.detail or "")


@pytest.mark.parametrize(
    "said", ["N/A", "n/a.", "NA", "null", "NULL", "None", "none.", "Unknown", '"unknown"', "[none]", "-", "?"]
)
def test_a_word_for_nothing_is_no_answer(said: str) -> None:
    assert TypeAdapter(LineOrNull).validate_python(said) is None


@pytest.mark.parametrize("said", ["nonesuch", "Nadia", "null and void", "unknown soldier", "a none", "35", "n", "nil"])
def test_an_answer_that_begins_like_a_word_for_nothing_is_one(said: str) -> None:
    assert TypeAdapter(LineOrNull).validate_python(said) == said


def forms() -> list[type[BaseModel]]:
    modules = [importlib.import_module(f"{prompts.__name__}.{one.name}") for one in iter_modules(prompts.__path__)]
    return [
        form
        for module in modules
        for _, form in inspect.getmembers(module, inspect.isclass)
        if issubclass(form, BaseModel) and form.__module__ == module.__name__
    ]


@pytest.mark.parametrize("form", forms(), ids=lambda form: f"{form.__module__}.{form.__name__}")
def test_no_form_lets_a_text_through_that_no_database_keeps(form: type[BaseModel]):
    # A reply that was cut off is read again, reading by reading.
    for field in (one for one in form.model_fields.values() if one.annotation != list[Any]):
        kind: Any = Annotated[field.annotation, *field.metadata, "a field"]
        adapter = TypeAdapter(kind)
        for value in ("a\0b", ["a\0b"]):
            with pytest.raises(ValidationError):
                adapter.validate_python(value)


@pytest.mark.parametrize("form", forms(), ids=lambda form: f"{form.__module__}.{form.__name__}")
def test_every_form_refuses_other_keys_and_types(form: type[BaseModel]):
    fields = dict.fromkeys(form.model_fields or ["other"], 0.5)
    for reply in ("", "prose", "null", "true", "[]", '{"other": 1}', json.dumps(fields), json.dumps([fields])):
        with pytest.raises(InvalidReply):
            read_form(form, Completion(reply, None, None, 1.0))


@pytest.mark.parametrize("given", [[], [True], [True, False, True]])
def test_a_reply_has_one_entry_for_each_thing_that_was_asked(given: list[bool]):
    assert one_for_each([True, False], 2, "answers") == [True, False]
    with pytest.raises(InvalidReply):
        one_for_each(given, 2, "answers")
