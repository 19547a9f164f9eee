"""A form is parsed from a reply with any text around it, in time that is linear in its length."""

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
from pgclarify.prompts.replies import one_for_each, places, read_form

FORM = '{"answer": "``` yes"}'


class Form(BaseModel):
    answer: str


def read(reply: str) -> Form:
    return read_form(Form, Completion(reply, None, None, 1.0))


@pytest.mark.parametrize(
    "reply",
    [
        FORM,
        f"  {FORM}\n",
        f"```json\n{FORM}\n```",
        f"\n``` \n\n {FORM} ```\n",
        f"<think>{{}} ``` </think>\n```json\n{FORM}```",
        f"\n<Thinking>So {FORM}?</thinking> {FORM}",
        f"[THINK]So?[/THINK]{FORM}",
        f"So the answer is no.\n</think>\n\n{FORM}",
    ],
)
def test_thoughts_and_code_fences_around_a_form_are_left_out(reply: str) -> None:
    assert read(reply).answer == "``` yes"


@pytest.mark.parametrize(
    "reply",
    [
        "```",
        "``````",
        f"```sql\n{FORM}\n```",
        f"```{FORM}```",
        f"```\n{FORM}",
        f"Yes: {FORM}",
        f"<think>So {FORM}",
        f"<think>So</thought>{FORM}",
    ],
)
def test_other_text_around_a_form_is_refused(reply: str) -> None:
    with pytest.raises(InvalidReply):
        read(reply)


# Models repeat themselves until they are stopped. An expression that tries all ends of a block takes hours over these.
@pytest.mark.parametrize(
    "reply",
    [
        "```" + "\n" * 50_000,
        "```\n" + " " * 50_000 + "x",
        "```\n" * 20_000,
        "<think>" * 20_000,
        "<think></think>" * 20_000,
        "[" * 100_000,
    ],
)
def test_a_reply_that_repeats_itself_is_read_at_once(reply: str) -> None:
    with pytest.raises(InvalidReply):
        read(reply)


def test_a_mark_within_an_answer_ends_no_thoughts() -> None:
    assert read('{"answer": "it ends with </think> there"}').answer == "it ends with </think> there"


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
    ("reply", "cause"),
    [
        ("", "empty"),
        ("<think>So", "empty"),
        ('{"answer": "thirty d', "cut it off"),
        ('```json\n{"answer": "thirty', "cut it off"),
        ("I cannot help with that.", "refused"),
    ],
)
def test_a_reply_that_a_filter_cut_off_or_a_model_refused_is_told_from_others(reply: str, cause: str) -> None:
    with pytest.raises(InvalidReply) as caught:
        read(reply)
    assert cause in (caught.value.detail or "")


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


@pytest.mark.parametrize("number", [0, -1, 4])
def test_a_number_that_was_not_shown_never_becomes_a_place(number: int):
    assert places([3, 1, 3], 3, "passages") == [0, 2]
    with pytest.raises(InvalidReply):
        places([1, number], 3, "passages")
