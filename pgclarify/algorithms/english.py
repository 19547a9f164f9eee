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
MAKING: Final = _words(
    "wrote write written paint painted painting compose composed direct directed directing found founded build built"
    " invent invented publish published produce produced design designed film filmed record recorded release released"
)
BEING: Final = _words("is are was were be been being became become it's he's she's")
# A name after one of these is no person's.
PLACING: Final = _words("in at near across throughout inside outside around")
CONNECTORS: Final = _words("of de van von der den da di del du la le al bin ibn el & y zu ten ter")
DATES: Final = _words(
    "january february march april may june july august september october november december monday tuesday wednesday"
    " thursday friday saturday sunday i"
)
THINGS: Final = _words(
    "castle museum university college school river lake sea ocean mount mountain island islands city town village"
    " county state republic kingdom empire union inc ltd corp corporation company gmbh bank church cathedral abbey"
    " palace tower bridge street road avenue square park station airport hotel theatre theater cup league prize award"
    " war battle treaty act festival band orchestra club party institute foundation society association group house"
    " hall hospital library garden gardens altar building canal desert valley bay gulf coast peninsula"
)
TITLES: Final = dict.fromkeys(_words("mr mr. sir lord king prince emperor father brother duke count pope"), "m") | (
    dict.fromkeys(_words("mrs mrs. ms ms. miss lady queen princess empress mother sister duchess madame"), "f")
    | dict.fromkeys(_words("dr dr. prof prof. professor president captain saint st. general judge senator"), "")
)
FIRST_NAMES: Final = dict.fromkeys(
    _words(
        "james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony"
        " mark donald steven stephen paul andrew joshua kenneth kevin brian george timothy ronald edward jason"
        " jeffrey ryan jacob gary nicholas eric jonathan larry justin scott brandon benjamin samuel gregory"
        " alexander frank patrick raymond jack dennis jerry tyler aaron jose adam nathan henry peter kyle walter"
        " ethan jeremy harold keith christian roger noah gerald carl terry sean arthur lawrence jesse dylan bryan"
        " joe jon billy bruce albert willie gabriel logan alan juan wayne roy ralph randy eugene vincent russell"
        " louis bobby philip martin ernest oscar hans lars nils erik olaf karl otto fritz johann ludwig wolfgang"
        " leonardo pablo pedro luis carlos miguel antonio giovanni marco ivan boris igor ahmed mohammed ali omar"
        " isaac max felix leo oliver theodore fred frederick harry tom tim jim bob bill mike dave steve"
    ),
    "m",
) | dict.fromkeys(
    _words(
        "mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret"
        " ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia"
        " dorothy amy kathleen angela shirley emma brenda pamela nicole anna samantha katherine christine debra"
        " rachel carolyn janet maria catherine heather diane olivia julie joyce ruth lauren kelly"
        " christina joan evelyn judith andrea hannah megan cheryl jacqueline martha teresa gloria sara"
        " janice ann anne abigail alice julia judy sophia grace denise amber doris marilyn danielle beverly"
        " isabella theresa diana natalie brittany marie kayla alexis lori ada ida ingrid astrid greta helga freya"
        " jane agatha rosa frida marta elena olga natasha fatima aisha clara eva ella lucy kate helen rose"
    ),
    "f",
)
# Somebody's: "the daughter" says no more than the pronoun does.
RELATIONS: Final = dict.fromkeys(_words("father brother son husband uncle grandfather dad nephew boyfriend"), "m") | (
    dict.fromkeys(_words("mother sister daughter wife aunt grandmother mom niece girlfriend"), "f")
    | dict.fromkeys(_words("friend cousin boss child baby kid twin spouse"), "")
)
PERSONS: Final = RELATIONS | (
    dict.fromkeys(_words("man boy king prince actor emperor guy gentleman monk"), "m")
    | dict.fromkeys(_words("woman girl queen princess actress empress lady nurse nun"), "f")
    | dict.fromkeys(_words("president artist author poet musician person chef judge guest saint pope"), "")
)
# "The end", "a lot": nothing that one speaks of.
VAGUE_NOUNS: Final = _words(
    "lot time way kind sort bit number end beginning start day days month year years week hour minute second first last"
    " most best other same least rest part top century moment name date place reason answer question example case"
)
