"""The reasons for a judgement, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from pgclarify.algorithms.ambiguity.features import alone
from pgclarify.algorithms.ambiguity.wording import Wording, coleman_liau
from pgclarify.data.dialogue import DetectionReason

# The least log odds of a reason.
_LEAST: Final = 0.05
_MOST_REASONS: Final = 4
_MOST_NAMED: Final = 3
# Most characters of a name or an answer that a reason repeats.
_SHOWN: Final = 40
_PLAIN_GRADE: Final = 6.0

_LENGTH: Final = frozenset(
    {"length", "one or two words", "three words", "twenty words", "characters", "content", "no content"}
)
_REFERENCE: Final = frozenset(
    {
        "referential", "share of referential", "he", "she", "they", "it", "other", "two persons", "open reference",
        "bound reference", "candidates", "no candidate", "one candidate", "reference, several candidates",
        "reference, no candidate", "pronoun repeated", "pronoun known", "new pronoun", "new person", "two sexes",
    }
)  # fmt: skip
_GROUPS: Final = {
    **dict.fromkeys(_LENGTH, "length"),
    **dict.fromkeys(_REFERENCE, "referential_words"),
    **dict.fromkeys(("readability", "longest word"), "readability"),
    **dict.fromkeys(("names", "no name", "one name", "quotes", "definite"), "names"),
    **dict.fromkeys(("time", "degree", "digits", "year"), "time"),
}
# Each feature is true of few questions. That a feature is false would not be a helpful reason.
_TRUE_OF_FEW: Final = {"opener": "form", "auxiliary": "form", "no asking word": "asking_words"}
_BEGINS: Final = "begins with "
_LEARNED: Final = ("meaning", "wording")
_HISTORY: Final = frozenset(
    {
        "turns", "words before", "words of the answer", "yes or no", "short after yes or no", "after no", "after more",
        "short after more", "short after short", "after short", "same asking word", "names of the answer",
        "several in the answer", "repeated", "nothing repeated", "name repeated", "new name", "digits before", "order",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spoken:
    """How much each part counts for "ambiguous", in log odds; values below zero count for "clear".

    Attributes:
        features: The log odds of each feature.
        wording: The log odds of the n-grams of words and letters.
        meaning: The log odds of the vectors.
    """

    features: Mapping[str, float]
    wording: float
    meaning: float


def explain(wording: Wording, spoken: Spoken, *, is_ambiguous: bool) -> tuple[DetectionReason, ...]:
    """List the reasons for a judgement: first those that were counted in the text, strongest first."""
    strengths = _strengths(wording, spoken)
    sign = 1 if is_ambiguous else -1
    texts = _AMBIGUOUS if is_ambiguous else _CLEAR
    found = []
    for name in sorted(strengths, key=lambda name: (name in _LEARNED, -sign * strengths[name])):
        is_enough = sign * strengths[name] >= _LEAST
        text = texts[name](wording) if is_enough else ""
        if text:
            found.append(DetectionReason("classifier" if name in _LEARNED else "feature", name, text))
    return tuple(found[:_MOST_REASONS])


def _strengths(wording: Wording, spoken: Spoken) -> dict[str, float]:
    """Add up the log odds of each reason, by its name."""
    counted = alone(wording)
    strengths = {"wording": spoken.wording, "meaning": spoken.meaning}
    for feature, odds in spoken.features.items():
        group = _GROUPS.get(feature) or ("history" if feature in _HISTORY else None)
        if group is None and counted[feature]:
            group = "form" if feature.startswith(_BEGINS) else _TRUE_OF_FEW.get(feature)
        if group is not None:
            strengths[group] = strengths.get(group, 0.0) + odds
    return strengths


def _open_reference(wording: Wording) -> str:
    if not wording.referential:
        return ""
    said = f"it says {_listed(wording.referential)}"
    candidates = _with_capitals(wording.candidates, wording)
    if len(candidates) > 1:
        return f"{said}, and several names before could be meant: {_listed(candidates)}"
    if wording.candidates:
        return f"{said}, which stands for something said before"
    if wording.has_antecedent:
        return f"{said}, and it is not certain what of the question that stands for"
    return f"{said}, and nothing before says who or what is meant"


def _bound_reference(wording: Wording) -> str:
    if not wording.referential:
        return "no word in it stands for something said elsewhere"
    if wording.has_antecedent:
        return f"it says {_listed(wording.referential)}, and itself names what can be meant"
    candidates = _with_capitals(wording.candidates, wording)
    if len(candidates) == 1:
        return f"it says {_listed(wording.referential)}, and before it only {_listed(candidates)} is named"
    return ""


def _short(wording: Wording) -> str:
    count = len(wording.words)
    return f"it has {_number(count)}" if count else "it has no words"


def _grade(wording: Wording) -> str:
    if not wording.words:
        return ""
    grade = coleman_liau(wording.question)
    return f"its words are {'short and plain' if grade < _PLAIN_GRADE else 'long'} (Coleman-Liau index {grade:.0f})"


def _no_names(wording: Wording) -> str:
    is_named = wording.quotes or _with_capitals(wording.names, wording)
    return "" if is_named else "it names nobody and nothing in particular"


def _named(wording: Wording) -> str:
    names = _with_capitals(wording.names, wording)
    if names:
        return f"it names {_listed(names)}"
    return "it quotes what is meant" if wording.quotes else ""


def _with_capitals(names: Sequence[str], wording: Wording) -> list[str]:
    return [name for name in names if name in wording.capitalized]


def _no_time(wording: Wording) -> str:
    return "" if any(map(str.isdigit, wording.question)) else "it does not say as of when, or by what measure"


def _time(wording: Wording) -> str:
    return "it gives a number or a year" if any(map(str.isdigit, wording.question)) else ""


def _history_open(wording: Wording) -> str:
    if not wording.last_answer:
        return ""
    return f'what was said before ("{shorten(" ".join(wording.last_answer), _SHOWN, placeholder="…")}") leaves it open'


def _form(often: str) -> Callable[[Wording], str]:
    return lambda wording: f'questions that begin with "{wording.words[0]}" are often {often}'


def _number(count: int) -> str:
    return "one word" if count == 1 else f"{count} words"


def _listed(words: Sequence[str]) -> str:
    shown = [f'"{shorten(word, _SHOWN, placeholder="…")}"' for word in dict.fromkeys(words)][:_MOST_NAMED]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


_Text = Callable[[Wording], str]

_AMBIGUOUS: Final[Mapping[str, _Text]] = {
    "referential_words": _open_reference,
    "length": _short,
    "readability": _grade,
    "names": _no_names,
    "time": _no_time,
    "history": _history_open,
    "form": _form("ambiguous"),
    "asking_words": lambda _: "no word in it asks",
    "wording": lambda wording: "its words are common in ambiguous questions" if wording.words else "",
    "meaning": lambda _: "questions that mean much the same were mostly ambiguous",
}
_CLEAR: Final[Mapping[str, _Text]] = {
    "referential_words": _bound_reference,
    "length": _short,
    "readability": _grade,
    "names": _named,
    "time": _time,
    "history": lambda wording: "what was said before settles it" if wording.last_answer else "",
    "form": _form("clear"),
    "asking_words": lambda _: "no word in it asks",
    "wording": lambda wording: "its words are common in clear questions" if wording.words else "",
    "meaning": lambda _: "questions that mean much the same were mostly clear",
}
