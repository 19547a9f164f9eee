"""How English text is split into words, and which words have little meaning."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pgclarify.language.quotes import UNSPACED, fold
from pgclarify.language.stems import stem

# Each repeated part is followed by a character outside its class, so that matching takes linear time. Hyphens, dots and
# apostrophes inside a word are part of it: "Jean-Luc", "U.S", "Ada's". The ambiguity classifier was trained on these
# words, so another pattern requires training it again.
WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
# A hyphen separates words that are compared one by one: "30-day" contains a unit.
_PART: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_INNER_DOT: Final = re.compile(r"(?<=[^\W_])\.(?=[^\W_])")
_POSSESSIVE: Final = ("'s", "\u2019s")
# Apostrophes separate words, too, where only the letters matter.
PIECE: Final = re.compile(r"\w+")
# Splits runs of word characters into letters of scripts without blanks between words, and all others.
_SCRIPT: Final = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")


def word_set(listed: str) -> frozenset[str]:
    """Return the set of words in a text."""
    return frozenset(listed.split())


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text.

    Attributes:
        text: As written.
        lower: In lower case, with straight apostrophes and without a possessive ending.
        start: Offset of its first character.
        end: Offset after its last character.
    """

    text: str
    lower: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        """The part that the word shares with its other forms."""
        return stem(self.lower)

    @property
    def is_content(self) -> bool:
        """False for words with grammatical function and no meaning."""
        return self.lower not in STOP_WORDS

    @property
    def is_capitalized(self) -> bool:
        """True if its first letter is a capital."""
        return self.text[0].isupper()


# One check of a verdict looks at its question, answer and quote again and again.
@lru_cache(maxsize=16)
def words(text: str) -> tuple[Word, ...]:
    """Split a text into words, without punctuation."""
    found = []
    for match in _PART.finditer(text):
        lower = match[0].lower().replace("\u2019", "'")
        found.append(Word(match[0], lower.removesuffix("'s"), match.start(), match.end()))
    return tuple(found)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words with meaning; of all words if none has."""
    found = words(text)
    return frozenset(word.stem for word in found if word.is_content) or frozenset(word.stem for word in found)


def coverage(wanted: Iterable[str], have: frozenset[str]) -> float:
    """Return the share of the wanted stems that are present, in [0, 1]; 1 if none is wanted."""
    wanted = list(wanted)
    return sum(one in have for one in wanted) / len(wanted) if wanted else 1.0


def plain_words(text: str) -> list[str]:
    """List the words of a text as written, without inner dots ("US" for "U.S.") and possessive endings."""
    return [without_possessive(word) for word in _PART.findall(_INNER_DOT.sub("", text))]


def folded_words(text: str) -> list[str]:
    """List the pieces of a folded text; "Ada's" has two.

    In a script without blanks between words, each pair of letters is a piece: a clause contains a word of an answer if
    it contains its pairs.
    """
    folded = fold(text)
    if folded.isascii():
        return PIECE.findall(folded)
    # Composed, because a decomposed accent is not a word character.
    pieces = PIECE.findall(unicodedata.normalize("NFC", folded))
    return [part for piece in pieces for part in _pairs(piece)] if _UNSPACED.search(folded) else pieces


def _pairs(piece: str) -> Iterator[str]:
    for part in _SCRIPT.findall(piece):
        if _UNSPACED.match(part) and len(part) > 1:
            yield from (part[start : start + 2] for start in range(len(part) - 1))
        else:
            yield part


def distinct_words(*texts: str) -> frozenset[str]:
    """Return the distinct pieces of some folded texts."""
    return frozenset(word for text in texts for word in folded_words(text))


def without_possessive(word: str) -> str:
    """Cut off a possessive ending."""
    return word[:-2] if word.endswith(_POSSESSIVE) else word


ARTICLES: Final = word_set("a an the")
# In the order in which the ambiguity classifier counts them.
ASKING: Final = ("who", "whom", "whose", "what", "which", "when", "where", "why", "how")
AUXILIARIES: Final = word_set(
    "is are was were be been am do does did has have had can could will would shall should may might must"
)
# They distinguish neither names nor questions.
COMMON: Final = ARTICLES | word_set("of in on at to for by with from and or is was are were")
# A quote of only these words proves nothing.
SMALL_WORDS: Final = COMMON | word_set(
    "he she it they his her its their him them this that these those which who has had have be been as not"
)
YES_OR_NO: Final = word_set("yes no ja nein oui non si sí no tak nie はい いい いえ")
PREPOSITIONS: Final = word_set(
    "of in on at to for by with from about into onto over under after before between during since until near as than"
    " like against through across among behind beside without within around inside outside up down off out per via"
)
PRONOUNS: Final = word_set(
    "i you he she it we they me him us them my your his her its our their mine yours hers ours theirs himself herself"
    " itself themselves this that these those there here one ones someone somebody anyone anybody everyone everybody"
    " nobody none nothing something anything everything other others another such same both either neither each"
)
LINKING: Final = word_set(
    "and or but nor so if then because while although though also not no yes yeah ok okay please too very only just"
    " now again already still ever never even more most much many few some any all less least well maybe perhaps soon"
    " often always later earlier ago back away together once twice first last next today tomorrow yesterday however"
    " besides according unlike thanks thank hello hi hey sorry really sure indeed actually mostly about around"
)
DETERMINERS: Final = word_set(
    "this that these those his her its their my your our some any each every which what whose no"
)
FUNCTION_WORDS: Final = AUXILIARIES | PREPOSITIONS | PRONOUNS | LINKING | ARTICLES | DETERMINERS | {*ASKING}
# Verbs, adjectives and the like, without nouns, in the forms that questions and short answers use.
NO_NOUNS: Final = FUNCTION_WORDS | word_set(
    "tell give list name show describe explain compare find say says said know knew think make makes made build built"
    " write wrote written paint painted compose composed direct directed found founded invent invented publish play"
    " played win won lose lost begin began begun start started end ended open opens close closes come comes came go"
    " goes went gone live lives lived die dies died born bear grow grew grown get gets got take takes took taken stand"
    " stands stood lie lies lay sit sell sold buy bought own owns meet met marry married move moved work works worked"
    " become became call called mean means meant cost costs hold held lead led run ran see saw seen sing sang sung"
    " speak spoke do use used star starred act locate located old new young tall long big large small high low wide"
    " deep famous early late good bad best better great rich expensive cheap free true false open closed far fast slow"
    " heavy full different important possible able left right main own retire retired leave join joined serve served"
    " located situated stay stayed teach taught study studied discover discovered create created release released"
)
# Words with grammatical function and no meaning, for finding an answer among questions and sentences. Adverbs of time
# have some meaning there, so they are not included.
STOP_WORDS: Final = word_set(
    """a about above after again against all also am among an and another any are aren't around as at be
    because been before being below between both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each either else ever every few for from further get gets getting give
    given gives got had hadn't has hasn't have haven't having he her here hers herself him himself his how i
    if in into is isn't it it's its itself just let many may me might mine more most much must my myself
    neither no nor not of off on once one ones only onto or other others ought our ours ourselves out over own
    per please same shall she should shouldn't since so some such than that that's the their theirs them
    themselves then there there's these they this those through thus to too toward towards under until up upon
    us very via was wasn't we were weren't what what's whatever when where whether which while who who's whom
    whose why will with within without won't would wouldn't yet you your yours yourself"""
)
# Words that do not show what a sentence is about.
NO_CONTENT: Final = STOP_WORDS | FUNCTION_WORDS
