"""Parts a mail from what it quotes, which another person said before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final

from pgclarify.language.words import word_set

_QUOTE_MARK: Final = re.compile(r"[ \t]*>(?!From )[ \t]?")
# "On Monday, Bo wrote:", in the languages of most mail programs.
_WROTE: Final = re.compile(
    r"\b(?:wrote|writes|schrieb|schreibt|a écrit|écrit|escribió|ha scritto|schreef|escreveu|skrev|napisał\(a\)|пишет|"
    r"написал)\b[^\n]{0,100}:\s*\Z"
)
_MOST_ATTRIBUTION_LINES: Final = 3
_ADDRESS: Final = re.compile(r"<?[\w.+-]+@[\w.-]+>?")
# Between a message and an older one below it.
_SEPARATOR: Final = re.compile(
    r"[ \t]*(?:_{10,}|-{3,}[^\n-]{3,60}-{3,}|[\w ]{2,20} forwarded message:)[ \t]*", re.IGNORECASE
)
_FIELD: Final = re.compile(r"[ \t]*\*?([^\W\d_](?:[\w -]{0,20}[\w-])?)[ \xa0\u202f]?:\*?[ \t]+(\S.*)")
_SENDERS: Final = word_set("from von de da van från fra od от 发件人 差出人")
_LEAST_FIELDS: Final = 3
_MONTHS: Final = (
    "jan ene gen sty янв", "feb fév fev lut фев", "mar mär mrz maa мар", "apr avr abr kwi апр",
    "may mai maj mag mei май", "jun juin giu cze июн", "jul juil lug lip июл", "aug aoû ago sie авг",
    "sep set wrz сен", "oct okt ott out paź окт", "nov lis ноя", "dec dez déc dic des gru дек",
)  # fmt: skip
_DATE: Final = re.compile(
    r"\b(?:(?P<y1>\d{4})[-/年](?P<m1>\d{1,2})[-/月](?P<d1>\d{1,2})日?|(?P<d2>\d{1,2})[./](?P<m2>\d{1,2})[./](?P<y2>(?:20)?\d\d)"
    r"|(?P<d3>\d{1,2})(?:st|nd|rd|th|\.)?(?: de)? (?P<n3>[^\W\d_]{3,10})\.?,?(?: de)? (?P<y3>\d{4})"
    r"|(?P<n4>[^\W\d_]{3,10})\.? (?P<d4>\d{1,2})(?:st|nd|rd|th)?,? (?P<y4>\d{4}))(?!\d)"
)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A message that another one quotes.

    Attributes:
        sender: Who wrote it, as the other message says it; empty if it does not.
        sent: When; None if the other message does not say it.
        text: What it says, without what it quotes itself.
    """

    sender: str
    sent: date | None
    text: str


@dataclass(frozen=True, slots=True)
class Parted:
    """A message without what it quotes.

    Attributes:
        text: What its sender says.
        quoted: What others said of whom sender or date is known, the latest first.
        unknown: How many passages have neither, such as those between the answers to them.
    """

    text: str
    quoted: tuple[Quoted, ...] = ()
    unknown: int = 0


def without_quoted(text: str) -> Parted:
    """Part a message from what it quotes. A message of only a quotation is that of its sender."""
    lines = text.split("\n")
    history = next((number for number in range(len(lines)) if _begins_history(lines, number)), len(lines))
    own: list[str] = []
    quoted: list[Quoted] = []
    unknown = 0
    for is_quote, run in _runs(lines[:history]):
        if not is_quote:
            own.extend(run)
            continue
        said = without_quoted("\n".join(_QUOTE_MARK.sub("", line, count=1) for line in run))
        attribution = _taken_attribution(own)
        message = _message(attribution, said.text)
        unknown += said.unknown + (not message and said.text.strip() != "")
        quoted.extend([*message, *said.quoted])
        while own and not own[-1].strip():
            own.pop()
        # What stands before and after it are two paragraphs.
        own.append("")
    if history < len(lines):
        head, said = _history(lines[history:])
        unknown += said.unknown
        quoted.extend([*_message(head, said.text), *said.quoted])
    if len(own) == len(lines):
        return Parted(text)
    told = "\n".join(own).strip("\n")
    if not told.strip() and not quoted:
        return Parted("\n".join(_QUOTE_MARK.sub("", line) for line in lines))
    return Parted(told, tuple(quoted), unknown)


def date_in(text: str) -> date | None:
    """Return the first date of a text, if it is clear which day it is."""
    for found in _DATE.finditer(text):
        parts = {key[0]: value for key, value in found.groupdict().items() if value}
        month = int(parts["m"]) if "m" in parts else _month(parts["n"])
        day, year = int(parts["d"]), int(parts["y"]) % 2000 + 2000
        # Of 2/3/2026, either number may be the month.
        if "/" in found[0] and not found["y1"] and day != month:
            if day <= 12 and month <= 12:
                continue
            day, month = max(day, month), min(day, month)
        try:
            return date(year, month, day)
        except ValueError:
            continue
    return None


def _month(name: str) -> int:
    """Return the number of a month; 0 if a word is none."""
    for number, names in enumerate(_MONTHS, start=1):
        if name.lower().startswith(tuple(names.split())):
            return number
    return 0


def _runs(lines: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield runs of lines: whether they are quoted, and the lines. An empty line belongs to the run before it."""
    run: list[str] = []
    is_quote = False
    for line in lines:
        is_marked = _QUOTE_MARK.match(line) is not None
        if run and line.strip() and is_marked != is_quote:
            yield is_quote, run
            run = []
        is_quote = is_marked if line.strip() else is_quote
        run.append(line)
    if run:
        yield is_quote, run


def _taken_attribution(own: list[str]) -> str:
    """Take the words that say who wrote what follows, from the end of a text; empty if there are none."""
    end = len(own)
    while end and not own[end - 1].strip():
        end -= 1
    for start in range(end - 1, max(end - 1 - _MOST_ATTRIBUTION_LINES, -1), -1):
        if not own[start].strip():
            break
        words = " ".join(" ".join(own[start:end]).split())
        if _is_attribution(words):
            del own[start:]
            return words
    return ""


def _is_attribution(words: str) -> bool:
    if not words.endswith(":"):
        return False
    has_date = _DATE.search(words) is not None
    return (_WROTE.search(words) is not None and (has_date or "@" in words)) or (has_date and "@" in words)


def _message(attribution: str, text: str) -> list[Quoted]:
    """Return a quoted message; none if neither its sender nor its date is known."""
    found = _ADDRESS.search(attribution)
    address = found[0].strip("<>") if found else ""
    sent = date_in(attribution)
    if not (address or sent) or not text.strip():
        return []
    return [Quoted(address, sent, text.strip("\n"))]


def _begins_history(lines: Sequence[str], number: int) -> bool:
    """Whether an older message stands below, without marks: after a line of its own, or its headers, or both."""
    line = lines[number]
    if _SEPARATOR.fullmatch(line):
        below = (lines[at] for at in range(number + 1, len(lines)) if lines[at].strip())
        return _is_head(list(islice(below, _LEAST_FIELDS)), 0, most=_LEAST_FIELDS)
    if _is_head(lines, number):
        return True
    # The lines below are searched for marks last: a long message without marks has them all for each of its lines.
    return (
        line.strip().endswith(":")
        and _WROTE.search(line) is not None
        and _is_attribution(" ".join(line.split()))
        and not any(map(_QUOTE_MARK.match, lines[number + 1 :]))
    )


def _is_head(lines: Sequence[str], number: int, *, most: int = 1) -> bool:
    """Whether lines are the headers of a message, of which one of the first says who sent it."""
    fields = [_FIELD.fullmatch(line) for line in lines[number : number + _LEAST_FIELDS]]
    names = [field[1].lower() for field in fields if field]
    return len(names) == _LEAST_FIELDS and not _SENDERS.isdisjoint(names[:most])


def _history(lines: Sequence[str]) -> tuple[str, Parted]:
    """Return what stands at the head of an older message, and what it says."""
    rest = list(lines)
    head: list[str] = []
    if _SEPARATOR.fullmatch(rest[0]) or _is_attribution(" ".join(rest[0].split())):
        head.append(rest.pop(0))
        while rest and not rest[0].strip():
            rest.pop(0)
    while rest and (found := _FIELD.fullmatch(rest[0])):
        # Only the sender's address counts, and no date of a subject.
        is_told = found[1].lower() in _SENDERS or date_in(found[2]) is not None
        head.extend([rest[0]] if is_told else [])
        rest.pop(0)
    return " ".join(head), without_quoted("\n".join(rest))
