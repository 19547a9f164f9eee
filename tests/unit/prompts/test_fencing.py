"""No foreign text looks like a marker of ours, even if it is disguised. A text without markers stays unchanged."""

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pgclarify.data.documents import Passage
from pgclarify.prompts.fencing import as_data, excerpt, fenced

MARKERS = [
    "<passage-0123456789abcdef>",
    "</passage-0123456789abcdef>",
    "<passage-3-0123456789abcdef>",
    "<|im_start|>",
    "</s>",
    "<<SYS>>",
    "<end_of_turn>",
    "</think>",
    "[INST]",
    "[/INST]",
]
SHY, SEPARATOR, INVISIBLE, WORD_JOINER, TAG, SELECTOR, ACCENT, FILLER = (
    "\u00ad",
    "\u180e",
    "\u2061",
    "\u2060",
    "\U000e0041",
    "\ufe0f",
    "\u0301",
    "\u3164",
)
UNSEEN = [SHY, SEPARATOR, INVISIBLE, WORD_JOINER, TAG, SELECTOR, ACCENT, FILLER, "\u200b", "\u202e", "\u034f", "\x08"]


def plain(text: str) -> str:
    """A text without anything invisible or disguised. This does not use the code under test."""
    decomposed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text)).casefold()
    kept = (
        character
        for character in unicodedata.normalize("NFKD", decomposed)
        if character.isspace()
        or (unicodedata.category(character)[0] not in "CM" and character not in "\u115f\u1160\u3164\uffa0")
    )
    return "".join(kept)


def holds_marker(text: str) -> bool:
    spelt = "".join(chr(ord(one) - 0xE0000) if 0xE0020 <= ord(one) < 0xE007F else one for one in text)
    return any(marker.casefold() in plain(one) for marker in MARKERS for one in (text, spelt))


def wide(text: str) -> str:
    """The full-width form."""
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


def tagged(text: str) -> str:
    """Spelt with invisible characters."""
    return "".join(chr(ord(one) + 0xE0000) for one in text)


def bold(text: str) -> str:
    """Letters of mathematics."""
    return "".join(chr(ord(one) - ord("a") + 0x1D41A) if "a" <= one <= "z" else one for one in text)


@st.composite
def disguised(draw: st.DrawFn) -> str:
    """A marker with characters inserted or replaced."""
    marker = draw(st.sampled_from(MARKERS))
    forms: st.SearchStrategy[Callable[[str], str]] = st.sampled_from([str, str.upper, wide, bold])
    between = st.lists(st.sampled_from(UNSEEN), max_size=2).map("".join)
    text = "".join(draw(forms)(one) + draw(between) for one in marker)
    return draw(st.sampled_from([text, tagged(marker), f"<{tagged(marker[1:])}"]))


@given(st.text(max_size=20), disguised(), st.text(max_size=20))
@example("", f"<{SHY}/passage-0123456789abcdef>", "")
@example("", f"</{SEPARATOR}passage-0123456789abcdef>", "")
@example("", f"</pass{INVISIBLE}age-0123456789abcdef>", "")
@example("", f"</pass{TAG}age-0123456789abcdef>", "")
@example("", f"</{tagged('passage')}-0123456789abcdef>", "")
@example("", "\u226e/passage-0123456789abcdef>", "")
@example("", "</pa\ufb06age>", "")
def test_no_disguise_makes_a_marker(before: str, marker: str, after: str) -> None:
    text = f"{before}\n{marker}\n{after}"
    assert not holds_marker(as_data(text))
    assert not any(holds_marker(line) for line in fenced("What?", Passage("a", 1, text)).splitlines()[1:-1])


@pytest.mark.parametrize(
    "marker",
    [
        "\u2039/passage-0123456789abcdef\u203a",
        "\u27e8passage\u20130123456789abcdef\u27e9",
        "<\u2044passage-0123456789abcdef>",
        "</\u0440\u0430ssage-0123456789abcdef>",
        "</pa\u0455\u0455ag\u0435-0123456789abcdef>",
        "</pa\u00dfage-0123456789abcdef>",
        "<\u2800/passage-0123456789abcdef>",
        "<\u2028/passage-0123456789abcdef>",
        "< / PASSAGE-2>",
        "<\uff5cUser\uff5c>",
        "<tool_call>",
        "[TOOL_CALLS]",
    ],
)
def test_text_that_looks_like_a_marker_is_broken(marker: str) -> None:
    assert as_data(f"a {marker} b") == f"a {marker[0]} {marker[1:]} b"


def test_every_form_of_a_bracket_opens_a_marker() -> None:
    forms = [form for form in map(chr, range(sys.maxunicode + 1)) if unicodedata.normalize("NFKD", form)[0] in "<["]
    assert len(forms) > 6
    for form in forms:
        word = "/passage-0>" if "<" in unicodedata.normalize("NFKD", form) else "INST]"
        assert as_data(f"{form}{word}") == f"{form} {word}"


@pytest.mark.parametrize(
    "text",
    [
        "A passage of <b>some</b> text, <p>5 < 7</p>, a<b, [1], [INSTALL] and <span>.",
        "\u00ab\u00a0passage\u00a0\u00bb, \u2039passage\u203a et \u300aPassage to India\u300b",
        "Zu\u00adcker, \U0001f469\u200d\U0001f52c",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645, e\u0301t\u00e9, \ufeff\u202b\u05e9\u202c",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "Tab\there\r\nand \x0b there\x00\ud800",
    ],
)
def test_a_clean_text_stays_as_it_is(text: str) -> None:
    assert as_data(text) == text


@pytest.mark.parametrize(
    "label", ["Fact 2:", f"F{SHY}act 2:", "\uff26act \uff12\uff1a", f"{WORD_JOINER}Turn{INVISIBLE}3:"]
)
def test_an_excerpt_has_no_label_of_ours(label: str) -> None:
    assert "fact 2:" not in plain(excerpt(f"so {label} it is", 100))
    assert "turn3:" not in plain(excerpt(f"so {label} it is", 100))
