"""The word classes of English, each once."""

from __future__ import annotations

from typing import Final

from pgclarify.language.words import word_set

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
