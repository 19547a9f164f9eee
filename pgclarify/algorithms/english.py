"""English words by what they do in a sentence, as far as plain rules need to know; all in lower case."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUXILIARIES: Final = _words(
    "is are was were be been am do does did has have had can could will would shall should may might must isn't aren't"
    " wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't"
)
PREPOSITIONS: Final = _words(
    "of in on at to for by with from about into onto over under after before between during since until near as than"
    " like against through across among behind beside without within around inside outside up down off out per via"
)
ASKING: Final = _words("who whom whose what which when where why how")
PRONOUNS: Final = _words(
    "i you he she it we they me him us them my your his her its our their mine yours hers ours theirs himself herself"
    " itself themselves this that these those there here one ones someone somebody anyone anybody everyone everybody"
    " nobody none nothing something anything everything other others another such same both either neither each"
)
LINKING: Final = _words(
    "and or but nor so if then because while although though also not no yes yeah ok okay please too very only just"
    " now again already still ever never even more most much many few some any all less least well maybe perhaps soon"
    " often always later earlier ago back away together once twice first last next today tomorrow yesterday however"
    " besides according unlike thanks thank hello hi hey sorry really sure indeed actually mostly about around"
)
ARTICLES: Final = _words("the a an")
DETERMINERS: Final = _words(
    "this that these those his her its their my your our some any each every which what whose no"
)
FUNCTION_WORDS: Final = AUXILIARIES | PREPOSITIONS | ASKING | PRONOUNS | LINKING | ARTICLES | DETERMINERS
# Verbs, adjectives and the like, in the forms in which questions and short answers have them: no nouns here.
NO_NOUNS: Final = FUNCTION_WORDS | _words(
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
