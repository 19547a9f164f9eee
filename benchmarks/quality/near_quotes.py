"""How many quotes that are nearly the words of their passage still prove the answer, and how many with another fact.

python -m benchmarks.quality.near_quotes DATA_DIR, where squad2.corpus and squad2.answerable are (.jsonl.gz).

A right quote is the sentence with the answer, with one word dropped, put in, exchanged, inflected or swapped with the
next one. A false one has another number, name or word in the answer and in the quote, or a "not" more or less in the
quote. The changes are random, with a fixed seed, and made by rules: a model makes others.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from benchmarks.data_sets import read
from benchmarks.figures import show_tables
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.language.english.words import Word, words
from pgclarify.language.quotes import find_quote
from pgclarify.language.sentences import split_sentences
from pgclarify.operations.judging.verdict_check import Quoted, check_quote

_OTHER_WORDS: Final = ("window", "river", "quickly", "strange", "purple", "engine", "garden", "famous")
_OTHER_NAMES: Final = ("Ortval", "Lindvik", "Holm", "Marcus", "Denmark")
_NEGATION: Final = re.compile(r"\b(?:not|never|no|only|neither|without) |n't\b")
_AUXILIARY: Final = re.compile(r"\b(?:is|was|are|were|has|can|will|had) ")


def _is_plain(word: Word) -> bool:
    return word.is_content and word.text.islower()


def _replaced(text: str, word: Word, by: str) -> str:
    return f"{text[: word.start]}{by}{text[word.end :]}"


def _drop(chance: random.Random, text: str, plain: list[Word]) -> str:
    return _replaced(text, chance.choice(plain), "")


def _exchange(chance: random.Random, text: str, plain: list[Word]) -> str:
    return _replaced(text, chance.choice(plain), chance.choice(_OTHER_WORDS))


def _insert(chance: random.Random, text: str, plain: list[Word]) -> str:
    place = chance.choice(plain).start
    return f"{text[:place]}{chance.choice(_OTHER_WORDS)} {text[place:]}"


def _inflect(chance: random.Random, text: str, plain: list[Word]) -> str:
    word = chance.choice(plain)
    return _replaced(text, word, word.text[:-1] if word.text.endswith("s") else f"{word.text}s")


def _swap(chance: random.Random, text: str, plain: list[Word]) -> str:
    place = chance.randrange(max(1, len(plain) - 1))
    first, second = plain[place], plain[min(place + 1, len(plain) - 1)]
    swapped = _replaced(text, second, first.text) if first is not second else text
    return _replaced(swapped, first, second.text)


def _number(chance: random.Random, text: str) -> str:
    found = chance.choice([*re.finditer(r"\d+", text)])
    return f"{text[: found.start()]}{int(found[0]) + chance.randint(1, 9)}{text[found.end() :]}"


def _name(chance: random.Random, text: str) -> str:
    name = chance.choice([word for word in words(text) if word.is_content and word.text.istitle()])
    return _replaced(text, name, chance.choice(_OTHER_NAMES))


def _word(chance: random.Random, text: str) -> str:
    return _exchange(chance, text, [word for word in words(text) if _is_plain(word)])


def _negate(chance: random.Random, text: str) -> str:
    place = chance.choice([*_AUXILIARY.finditer(text)]).end()
    return f"{text[:place]}not {text[place:]}"


def _affirm(chance: random.Random, text: str) -> str:
    found = chance.choice([*_NEGATION.finditer(text)])
    return text[: found.start()] + text[found.end() :]


_RIGHT: Final[Mapping[str, Callable[[random.Random, str, list[Word]], str]]] = {
    "a word is dropped": _drop,
    "a word is put in": _insert,
    "a word is exchanged": _exchange,
    "a word is inflected": _inflect,
    "two words are swapped": _swap,
}
# Of the answer, in the quote too.
_FALSE_ANSWERS: Final[Mapping[str, Callable[[random.Random, str], str]]] = {
    "another number": _number,
    "another name": _name,
    "another word of the answer": _word,
}
_FALSE_QUOTES: Final[Mapping[str, Callable[[random.Random, str], str]]] = {
    "a negation more": _negate,
    "a negation less": _affirm,
}


def _claims(chance: random.Random, row: Mapping[str, Any], sentence: str) -> Iterator[tuple[str, Reading]]:
    """Yield readings with changed quotes, each with its kind. What cannot be changed in a way is left out."""
    question, answer = row["question"], row["answer"]
    plain = [word for word in words(sentence) if _is_plain(word)]
    # A choice of nothing.
    for kind, change in _RIGHT.items():
        with suppress(IndexError):
            quote = change(chance, sentence, plain)
            if answer in quote:
                yield kind, Reading(question, answer, quote)
    for kind, falsify in _FALSE_ANSWERS.items():
        with suppress(IndexError):
            false = falsify(chance, answer)
            yield kind, Reading(question, false, sentence.replace(answer, false))
    for kind, falsify in _FALSE_QUOTES.items():
        with suppress(IndexError):
            quote = falsify(chance, sentence)
            if answer in quote:
                yield kind, Reading(question, answer, quote)


def _measure(data_dir: Path) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count by kind: changed quotes, those that prove their answer, and sentences that do so unchanged."""
    chance = random.Random(1)  # noqa: S311 - not for secrets
    passages = {row["id"]: row for row in read(data_dir / "squad2.corpus.jsonl.gz")}
    asked, proven, exact = Counter[str](), Counter[str](), Counter[str]()
    for row in read(data_dir / "squad2.answerable.jsonl.gz"):
        told = passages[row["passage"]]
        passage = Passage(row["passage"], 1, told["text"], title=told["title"])
        sentences = (one.text for one in split_sentences(told["text"]) if row["answer"] in one.text)
        sentence = next(sentences, None)
        if sentence is None:
            continue
        unchanged = check_quote(Reading(row["question"], row["answer"], sentence), row["question"], passage)
        for kind, reading in _claims(chance, row, sentence):
            if find_quote(reading.quote, told["text"]) is None:
                asked[kind] += 1
                proven[kind] += isinstance(check_quote(reading, row["question"], passage), Quoted)
                exact[kind] += isinstance(unchanged, Quoted)
    return asked, proven, exact


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    asked, proven, exact = _measure(parser.parse_args().data_dir)
    table = Table("changed", "quotes", "prove the answer", "do so unchanged")
    for title, kinds in (("right", [*_RIGHT]), ("false", [*_FALSE_ANSWERS, *_FALSE_QUOTES])):
        for name, each in ((f"{title}: all", kinds), *((kind, [kind]) for kind in kinds)):
            unchanged = str(sum(exact[kind] for kind in each)) if title == "right" else ""
            counts = (sum(count[kind] for kind in each) for count in (asked, proven))
            table.add_row(name, *map(str, counts), unchanged)
    show_tables(table)


if __name__ == "__main__":
    _main()
