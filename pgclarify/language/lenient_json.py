"""Reads the JSON object in a reply of a language model, whatever else the model sends with it.

It mends the form of a reply, and never its words: each text and number of the result is in the reply, complete, in the
same order, and between them are only marks of JSON. What cannot be read so is left as it is, and the strict form of the
reply refuses it. An object that breaks off is not mended, because its last text may be cut. Nor is one that anything
but marks and an offer of help follows, in any language, because that may take it back. Before it and in it, where
reasons may stand, only English words that do so count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeGuard

import json_repair

from pgclarify.data.vocabulary import Mend as Mend
from pgclarify.language.english.word_classes import OFFERS, WITHDRAWALS
from pgclarify.language.foreign_text import unstorable
from pgclarify.language.thoughts import THOUGHTS, without_thoughts

Schema: TypeAlias = Mapping[str, Any]

# A model may repeat a bracket until its limit. Each bracket may begin an object, which is then searched for its end.
_MOST_BEGINNINGS: Final = 64
# Replies are short. The repair of a longer text may take seconds.
_LONGEST_REPAIRED: Final = 32_000
# Between texts and numbers.
_MARKS: Final = re.compile(r"[\s{}\[\]:,]*")
_OPENING: Final = {"}": "{", "]": "["}
_QUOTED: Final = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
# What says nothing after an object.
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
# A line break that was escaped twice stands between texts as a backslash and a letter.
_TEXT_OR_BREAK: Final = re.compile(r'("(?:[^"\\]|\\.)*")|\\[nrt]', re.DOTALL)
_CODE_BLOCK: Final = re.compile(r"\s*(?:```|~~~)\s*\w*\s*(?:```|~~~)?\s*")
# What closes a form around an object: </answer>, <|im_end|>, ~~~. The end of thoughts makes the object one of them.
_END_MARK: Final = re.compile(
    rf"</?\|?(?!(?:\w+:)?(?:{THOUGHTS}|del|strike|{'|'.join(sorted(WITHDRAWALS))})\b)\w[\w:]*\|?>|~~~+", re.IGNORECASE
)
_CLOSING: Final = re.compile(r"""[\s`}\])"'*.,;-]*""")
_WORDS: Final = re.compile(r"[^\W_]+")
_FENCE_AT_END: Final = re.compile(r"(?:```|~~~)\s*\w*\s*\Z")
_SENTENCE_END: Final = re.compile(r"[.!?\n]")
# A sentence with these announces the object, like one with a colon. Other sentences before it may be about a draft.
_NEXT: Final = frozenset({"following", "follows", "below", "next"})
_CORRECTIONS: Final = frozenset({"correction", "corrections", "corrected", "revised"})
_OF_AN_OFFER: Final = re.compile(r"[\w\s.,;:!?'\u2019]*")


@dataclass(frozen=True, slots=True)
class Mended:
    """A reply in the form of its schema, as far as it could be mended.

    Attributes:
        text: JSON; the reply without thoughts if no object was found in it.
        mends: The kinds of mends, each once.
    """

    text: str
    mends: tuple[Mend, ...] = ()


def mend(reply: str, schema: Schema) -> Mended:
    """Mend the form of a reply that is one JSON object, in time that is linear in its length.

    Args:
        reply: What the model said.
        schema: The JSON schema of the object, without references.
    """
    mends: dict[Mend, None] = {}
    text = without_thoughts(reply)
    if text != reply:
        mends[Mend.THOUGHTS] = None
    text = text.strip()
    unchanged = Mended(text, tuple(mends))
    try:
        found = _object(text, schema, mends)
        fitted = None if found is None else _fitted(found, schema, mends)
    # Lists in lists in lists.
    except RecursionError:
        return unchanged
    mended = json.dumps(fitted, ensure_ascii=False, default=float)
    # Half a surrogate pair is refused in JSON, and only there.
    if fitted is None or not mends or unstorable(mended):
        return unchanged
    return Mended(mended, tuple(mends))


def may_be_taken_back(reply: str) -> bool:
    """Tell whether a reply has an object, and around it words that may take it back."""
    found = list(_objects(reply))
    if not found:
        return False
    _, start, end = found[-1]
    return not _ends(reply[end:]) or _is_announced_as_wrong(reply[:start])


def _object(text: str, schema: Schema, mends: dict[Mend, None]) -> dict[str, Any] | None:
    """Find the object in a text; None if there is none, several that differ, or one that may be taken back."""
    whole = _parsed(text)
    if isinstance(whole, str):
        mends[Mend.ESCAPED] = None
        text, whole = whole, _parsed(whole)
    if (unwrapped := _unwrapped(whole, schema, mends)) is not None:
        return unwrapped
    candidates = [text, _without_breaks(text)]
    unescaped = _parsed(f'"{text}"')
    if isinstance(unescaped, str):
        candidates.append(unescaped)
    for candidate in dict.fromkeys(candidates):
        found, before, after = _among_words(candidate, schema)
        if found is None:
            found, before, after = _repaired(candidate, schema)
            if found is None:
                continue
            mends[Mend.SYNTAX] = None
        if not _ends(after) or _is_announced_as_wrong(before):
            return None
        if candidate != text:
            mends[Mend.ESCAPED] = None
        around = before + after
        if _CODE_BLOCK.fullmatch(around):
            mends[Mend.CODE_BLOCK] = None
        elif around.strip():
            mends[Mend.WORDS] = None
        return _unwrapped(found, schema, mends)
    return None


def _ends(after: str) -> bool:
    """Tell whether what follows an object cannot take it back: marks that close, or words that only offer help."""
    after = _END_MARK.sub(" ", after)
    words = _WORDS.findall(after.lower())
    if not words:
        return _CLOSING.fullmatch(after) is not None
    if not OFFERS.issuperset(words):
        return False
    said = after.strip("`*- \t\r\n")
    return _OF_AN_OFFER.fullmatch(said) is not None


def _is_announced_as_wrong(before: str) -> bool:
    """Tell whether the last sentence before an object is about the object, and takes it back."""
    lead = _FENCE_AT_END.sub("", before).strip("`~* \t\r\n")
    sentences = _SENTENCE_END.split(lead.rstrip(".!?"))
    words = _words(sentences[-1])
    is_about_it = lead.endswith(":") or not _NEXT.isdisjoint(words)
    return is_about_it and not WITHDRAWALS.isdisjoint(words)


def _takes_back(name: str, value: object) -> bool:
    """Tell whether a key that was not asked for takes back the object that it is in, or beside."""
    if value is False or value in _NOTHING:
        return False
    words = _words(name)
    # An object under such a key is the right one.
    if not isinstance(value, dict) and not _CORRECTIONS.isdisjoint(words):
        return True
    if isinstance(value, str):
        words |= _words(value)
    return not WITHDRAWALS.isdisjoint(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))


def _parsed(text: str) -> Any:  # noqa: ANN401 (any value of JSON)
    """Return the value of JSON, with line breaks in texts; None if it is no JSON."""
    try:
        return json.loads(text, strict=False, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def _unwrapped(value: object, schema: Schema, mends: dict[Mend, None]) -> dict[str, Any] | None:
    """Return the object of a value that is one, or has just one and nothing after it; None if it has none, or more."""
    is_wrapped = False
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
        is_wrapped = True
    if not isinstance(value, dict):
        return None
    inner = _inner(value, schema)
    if inner:
        if len(inner) > 1 or _has_keys(value, schema):
            return None
        *_, last = (each for each in value.values() if each not in _NOTHING)
        if last is not inner[0] or any(_takes_back(*each) for each in value.items()):
            return None
        value = last
        is_wrapped = True
    if is_wrapped:
        mends[Mend.WRAPPED] = None
    return value


def _inner(value: Mapping[str, Any], schema: Schema) -> list[dict[str, Any]]:
    """Return the objects of this schema that another one has under keys that were not asked for."""
    asked = schema.get("properties", ())
    others = (each for name, each in value.items() if name not in asked)
    return [each for each in others if isinstance(each, dict) and _has_keys(each, schema)]


def _has_keys(value: Mapping[str, Any], schema: Schema) -> bool:
    asked = schema.get("properties", ())
    return not value.keys().isdisjoint(asked)


def _is_of(value: object, schema: Schema) -> TypeGuard[dict[str, Any]]:
    """Whether a value is an object of this schema, or has one."""
    return isinstance(value, dict) and (_has_keys(value, schema) or bool(_inner(value, schema)))


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the objects in a text, each with its beginning and its end."""
    decoder = json.JSONDecoder(strict=False, parse_float=Decimal)
    start = 0
    for _ in range(_MOST_BEGINNINGS):
        start = text.find("{", start)
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
            continue
        yield value, start, end
        start = end


def _among_words(text: str, schema: Schema) -> tuple[dict[str, Any] | None, str, str]:
    """Find the one object of this schema in a text; None if there is not one.

    Returns:
        The object, the text before it, and the text after it.
    """
    found, before, after = None, "", ""
    for value, start, end in _objects(text):
        if not _is_of(value, schema) or _unwrapped(value, schema, {}) is None:
            continue
        if found is not None and found != value:
            return None, "", ""
        found, before, after = value, text[:start], text[end:]
    return found, before, after


def _without_breaks(text: str) -> str:
    """Replace line breaks that were escaped twice, and stand outside of texts, by blanks."""
    return _TEXT_OR_BREAK.sub(lambda found: found[1] or " ", text)


def _repaired(text: str, schema: Schema) -> tuple[dict[str, Any] | None, str, str]:
    """Find the object of a text with wrong marks; None unless the library has changed nothing but marks.

    Returns:
        As `_among_words`.
    """
    start = text.find("{")
    end = text.rfind("}") + 1
    if not 0 <= start < end or end - start > _LONGEST_REPAIRED:
        return None, "", ""
    raw = text[start:end]
    try:
        value = json_repair.loads(raw, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None, "", ""
    if _is_of(value, schema) and _is_faithful(value, raw):
        return value, text[:start], text[end:]
    return None, "", ""


def _is_faithful(value: object, raw: str) -> bool:
    """Tell whether a text has just the texts and numbers of a value, in order, and marks that open and close."""
    place = 0
    marks = ""
    for leaf in _leaves(value):
        gap = _MARKS.match(raw, place)
        if gap is None:
            return False
        end = _end_of(leaf, raw, gap.end())
        if end is None:
            return False
        marks += gap[0]
        place = end
    marks += raw[place:]
    return _MARKS.fullmatch(raw, place) is not None and _closes(marks)


def _leaves(value: object) -> Iterator[object]:
    """Yield the keys, texts, numbers and constants of a value, in order."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _end_of(leaf: object, raw: str, start: int) -> int | None:
    """Return the end of a text, number or constant that is written at a place; None if it is not."""
    if isinstance(leaf, str):
        closing = _QUOTED.get(raw[start : start + 1])
        if closing is None:
            return _end_of_bare_key(leaf, raw, start)
        end = _end_of_text(leaf, raw, start + 1)
        return end + len(closing) if end is not None and raw.startswith(closing, end) else None
    if isinstance(leaf, bool) or leaf is None:
        word = _WORD.match(raw, start)
        is_written = word is not None and word[0] in _CONSTANTS and _CONSTANTS[word[0]] is leaf
        return word.end() if word is not None and is_written else None
    number = _NUMBER.match(raw, start)
    return number.end() if number is not None and float(number[0]) == leaf else None


def _end_of_bare_key(key: str, raw: str, start: int) -> int | None:
    """Return the end of a key without quotation marks that is written at a place; None if it is not."""
    word = _WORD.match(raw, start)
    if word is None or word[0] != key:
        return None
    after = raw[word.end() :].lstrip()
    return word.end() if after.startswith(":") else None


def _end_of_text(text: str, raw: str, start: int) -> int | None:
    """Return the end of a text that is written at a place, with or without escapes; None if it is not."""
    place = start
    for character in text:
        if raw.startswith("\\", place):
            length = 6 if raw.startswith("\\u", place) else 2
            escape = raw[place : place + length]
            if _parsed(f'"{escape}"') == character or escape == f"\\{character}":
                place += length
                continue
        if not raw.startswith(character, place):
            return None
        place += 1
    return place


def _closes(marks: str) -> bool:
    """Tell whether all brackets are closed, the first one last."""
    opened: list[str] = []
    is_over = False
    for mark in marks:
        if mark in "{[":
            if is_over:
                return False
            opened.append(mark)
        elif mark in "}]":
            if not opened or opened.pop() != _OPENING[mark]:
                return False
            is_over = not opened
    return is_over


def _fitted(value: object, schema: Schema, mends: dict[Mend, None]) -> object:
    """Fit a value to a schema: leave out keys, and write numbers as texts or texts as numbers where it wants that."""
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if isinstance(value, dict):
        return _fitted_object(value, schema, mends)
    if isinstance(value, list):
        return [_fitted(each, schema.get("items", {}), mends) for each in value]
    if "string" in kinds:
        if type(value) not in (int, Decimal):
            return value
        mends[Mend.QUOTING] = None
        return str(value)
    if isinstance(value, str):
        read = _parsed(value.strip().lower())
        kind = {int: "integer", bool: "boolean"}.get(type(read))
        if kind in kinds:
            mends[Mend.QUOTING] = None
            return read
    return value


def _fitted_object(value: dict[str, Any], schema: Schema, mends: dict[Mend, None]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    kept, others = dict[str, Any](), dict[str, Any]()
    for key, each in value.items():
        if key in properties:
            kept[key] = _fitted(each, properties[key], mends)
        else:
            others[key] = each
    # The strict form of the reply refuses an object with other keys.
    if schema.get("additionalProperties") is not False or any(_takes_back(*each) for each in others.items()):
        return {**value, **kept}
    if others:
        mends[Mend.EXTRA_KEY] = None
    return kept
