"""The word classes of English, each once, and the sets that rules make of them.

A rule that needs other words than a class takes the class, and names what it adds or leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pgclarify.language.words import word_set

# Determiners and pronouns

ARTICLES: Final = word_set("a an the")
DEMONSTRATIVES: Final = word_set("this that these those")
POSSESSIVES: Final = word_set("my your his her its our their")
QUANTIFIERS: Final = word_set("any each every no some")
DETERMINERS: Final = ARTICLES | DEMONSTRATIVES | POSSESSIVES | QUANTIFIERS | word_set("what which whose")
INTERROGATIVES: Final = ("who", "whom", "whose", "what", "which", "when", "where", "why", "how")
"""In the order in which the ambiguity classifier counts them."""
THIRD_PERSON: Final = word_set("he she it they his her its their him them")
PERSONAL_PRONOUNS: Final = word_set("i you he she it we they me him us them")
INDEFINITE_PRONOUNS: Final = word_set(
    "someone somebody anyone anybody everyone everybody nobody none nothing something anything everything"
)
PRONOUNS: Final = (
    PERSONAL_PRONOUNS
    | POSSESSIVES
    | DEMONSTRATIVES
    | INDEFINITE_PRONOUNS
    | word_set("mine yours hers ours theirs himself herself itself themselves there here one ones")
    | word_set("other others another such same both either neither each")
)

# Verbs

PAST_OF_BE: Final = word_set("was were")
FINITE_BE: Final = PAST_OF_BE | {"is", "are"}
FORMS_OF_BE: Final = FINITE_BE | word_set("be been am")
FORMS_OF_DO: Final = word_set("do does did")
FORMS_OF_HAVE: Final = word_set("has have had")
MODALS: Final = word_set("can could will would shall should may might must")
AUXILIARIES: Final = FORMS_OF_BE | FORMS_OF_DO | FORMS_OF_HAVE | MODALS
CONTRACTED_NEGATIONS: Final[Mapping[str, str]] = {
    "cannot": "can",
    "can't": "can",
    "won't": "will",
    "isn't": "is",
    "aren't": "are",
    "wasn't": "was",
    "weren't": "were",
    "mustn't": "must",
    "shouldn't": "should",
    "hasn't": "has",
    "haven't": "have",
    "don't": "do",
    "doesn't": "does",
    "didn't": "did",
}
"""The auxiliary of each."""
IRREGULAR_VERBS: Final[Mapping[str, tuple[str, str]]] = {
    "become": ("became", "become"),
    "begin": ("began", "begun"),
    "bring": ("brought", "brought"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "choose": ("chose", "chosen"),
    "come": ("came", "come"),
    "cost": ("cost", "cost"),
    "cut": ("cut", "cut"),
    "drive": ("drove", "driven"),
    "fall": ("fell", "fallen"),
    "feel": ("felt", "felt"),
    "fight": ("fought", "fought"),
    "find": ("found", "found"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "hold": ("held", "held"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "lead": ("led", "led"),
    "leave": ("left", "left"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "mean": ("meant", "meant"),
    "meet": ("met", "met"),
    "pay": ("paid", "paid"),
    "rise": ("rose", "risen"),
    "run": ("ran", "run"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "show": ("showed", "shown"),
    "sit": ("sat", "sat"),
    "speak": ("spoke", "spoken"),
    "spend": ("spent", "spent"),
    "stand": ("stood", "stood"),
    "take": ("took", "taken"),
    "teach": ("taught", "taught"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "wear": ("wore", "worn"),
    "win": ("won", "won"),
    "write": ("wrote", "written"),
}
"""Past and participle of each."""

# Nouns

IRREGULAR_PLURALS: Final[Mapping[str, str]] = {"children": "child", "feet": "foot", "men": "man", "women": "woman"}
UNITS_OF_TIME: Final = word_set("second minute hour day week month year decade century")
SYNONYMS: Final = (
    word_set("establish founded create form open launch start begin organize introduce inaugurate"),
    word_set("build construct erect complete"),
    word_set("buy purchase acquire"),
    word_set("publish release issue"),
    word_set("praise commend"),
    word_set("allow permit grant authorize"),
    word_set("announce reveal unveil"),
    word_set("play portray"),
    word_set("population inhabitants"),
)
"""What was founded in 1912 was established then."""
EVENTS: Final[Mapping[str, str]] = {"birth": "born", "death": "die"}
"""Nouns for what happens to somebody, with the word of the sentence that tells it."""

# Prepositions

PREPOSITIONS_OF_PLACE: Final = word_set("in at near from to across throughout outside inside around into")
PREPOSITIONS: Final = word_set(
    "of in on at to for by with from about into onto over under after before between during since until near as than"
    " like against through across among behind beside without within around inside outside up down off out per via"
)
RARE_PREPOSITIONS: Final = word_set("except following toward throughout upon")
"""They are none of `FUNCTION_WORDS`: most are also other words, or tell what is asked."""

# Conjunctions and negations

SUBORDINATORS: Final = word_set("if when once unless whenever as although assuming because while where")
NEGATIONS: Final = word_set("no not never none neither nor")
NEARLY_NEGATIONS: Final = word_set("barely hardly rarely scarcely seldom")
EXCLUSIONS: Final = word_set("without except unless")
RESERVATIONS: Final = (
    NEGATIONS
    | NEARLY_NEGATIONS
    | EXCLUSIONS
    | word_set("nobody nothing only if whether suppose supposing imagine until formerly would unlikely impossible")
    | word_set("allegedly reportedly supposedly apparently alleged according claim claims claimed believe believes")
    | word_set("believed think thinks thought say says said suggests suggested deny denies denied doubt doubts doubted")
    | word_set("reject rejects rejected dispute disputes disputed pretend pretends pretended wish wishes wished")
    | word_set("rumor rumors rumour rumours false falsely untrue wrong wrongly incorrect mistaken mistakenly myth hoax")
)
"""They limit what a sentence says, make it depend on something, deny it, or give it as the word of somebody."""

# Words with little meaning

LINKING: Final = word_set(
    "and or but nor so if then because while although though also not no yes yeah ok okay please too very only just"
    " now again already still ever never even more most much many few some any all less least well maybe perhaps soon"
    " often always later earlier ago back away together once twice first last next today tomorrow yesterday however"
    " besides according unlike thanks thank hello hi hey sorry really sure indeed actually mostly about around"
)
FUNCTION_WORDS: Final = AUXILIARIES | PREPOSITIONS | PRONOUNS | LINKING | DETERMINERS | {*INTERROGATIVES}
COMMON: Final = ARTICLES | word_set("of in on at to for by with from and or is was are were")
"""They distinguish neither names nor questions."""
SMALL_WORDS: Final = COMMON | THIRD_PERSON | DEMONSTRATIVES | FORMS_OF_HAVE | word_set("which who be been as not")
"""A quote of only these words proves nothing."""
STOP_WORDS: Final = (
    AUXILIARIES
    | DETERMINERS
    | {*INTERROGATIVES}
    | (PREPOSITIONS - word_set("across behind beside inside like near outside"))
    | (PRONOUNS - INDEFINITE_PRONOUNS)
    | CONTRACTED_NEGATIONS.keys()
    | word_set("couldn't hadn't wouldn't it's that's there's what's who's myself yourself ourselves")
    | word_set("above below toward towards upon and or but nor so if then because while whatever whether")
    | word_set("again all also ever few just many more most much not once only please some too very yet")
    | word_set("being doing having get gets getting got give given gives let ought own else further thus")
)
"""Words with grammatical function and no meaning, for finding an answer among questions and sentences. Adverbs of time
have some meaning there, so they are not included."""
NO_CONTENT: Final = STOP_WORDS | FUNCTION_WORDS
"""Words that do not show what a sentence is about."""
NO_NOUNS: Final = FUNCTION_WORDS | word_set(
    "tell give list name show describe explain compare find say says said know knew think make makes made build built"
    " write wrote written paint painted compose composed direct directed found founded invent invented publish play"
    " played win won lose lost begin began begun start started end ended open opens close closes come comes came go"
    " goes went gone live lives lived die dies died bear born grow grew grown get gets got take takes took taken stand"
    " stands stood lie lies lay sit sell sold buy bought own owns meet met marry married move moved work works worked"
    " become became call called mean means meant cost costs hold held lead led run ran see saw seen sing sang sung"
    " speak spoke do use used star starred act locate located old new young tall long big large small high low wide"
    " deep famous early late good bad best better great rich expensive cheap free true false open closed far fast slow"
    " heavy full different important possible able left right main own retire retired leave join joined serve served"
    " located situated stay stayed teach taught study studied discover discovered create created release released"
)
"""Verbs, adjectives and the like, without nouns, in the forms that questions and short answers use."""

OFFERS: Final = word_set(
    "i m d me my you your to if for is are there should shall can could would will let tell know ask hope need want"
    " like go on continue proceed do have any anything else more further question questions help helps helped"
    " assist assistance this please feel free happy glad thank thanks with or and"
)
"""A model that ends with nothing but these offers help, or to go on. None of them can deny or correct anything."""

WITHDRAWALS: Final = word_set(
    "wrong wrongly incorrect incorrectly mistaken mistakenly mistake invalid ignore disregard discard discarded"
    " rejected retract retracted withdraw withdrawn"
)
"""A model that labels its own words with one of these takes them back."""

# Abbreviations

ABBREVIATIONS: Final = word_set(
    """mr mrs ms dr prof rev gen col sgt capt lt st mt jr sr vs etc approx no nos vol fig figs art sec ch pp
    ed eds al e.g i.e cf ca inc ltd co corp dept est jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k
    u.n a.m p.m ph.d b.c a.d min max ext tel"""
)
ABBREVIATIONS_THAT_END: Final = word_set("etc a.m p.m inc ltd co corp jr sr al")
"""They often end a sentence: a capital after them begins a new one."""
