"""How English text is split into words, what their forms share, and which words say little by themselves."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.language.quotes import fold

# Hyphens, dots and apostrophes inside a word are part of it: "Jean-Luc", "U.S", "Ada's". The ambiguity classifier was
# trained on these words, so another pattern means training it again.
WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
# A hyphen parts words where they are compared one by one: "30-day" has a unit in it.
_PART: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_INNER_DOT: Final = re.compile(r"(?<=[^\W_])\.(?=[^\W_])")
_POSSESSIVE: Final = re.compile(r"['\u2019]s$")
# Apostrophes part words, too, where all that counts is whether the same letters stand elsewhere.
PIECE: Final = re.compile(r"\w+")
# Letters that inflected forms of one word share, in most words.
_ROOT: Final = 5


def word_set(listed: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(listed.split())


def plain_words(text: str) -> list[str]:
    """List the words of a text as written, without dots inside ("US" for "U.S.") and possessive endings."""
    return [without_possessive(word) for word in _PART.findall(_INNER_DOT.sub("", text))]


def folded_words(text: str) -> list[str]:
    """List the pieces of a folded text; "Ada's" is two."""
    return PIECE.findall(fold(text))


def without_possessive(word: str) -> str:
    """Cut off a possessive ending."""
    return _POSSESSIVE.sub("", word)


def singular(word: str) -> str:
    """Cut the ending of a regular plural off a lower-case word."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def root(word: str) -> str:
    """Cut a lower-case word to what most of its forms share; "founded" and "founder" are one. Numbers stay."""
    return word if word.isdigit() else singular(word)[:_ROOT]


ARTICLES: Final = word_set("a an the")
# In the order in which the ambiguity classifier counts them.
ASKING: Final = ("who", "whom", "whose", "what", "which", "when", "where", "why", "how")
AUXILIARIES: Final = word_set(
    "is are was were be been am do does did has have had can could will would shall should may might must"
)
# Between names and in questions alike they make no difference.
COMMON: Final = ARTICLES | word_set("of in on at to for by with from and or is was are were")
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
# Verbs, adjectives and the like, in the forms in which questions and short answers have them: no nouns here.
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
