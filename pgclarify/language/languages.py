"""Is a text in English, or plainly in another language? Judged by its letters and its most frequent words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pgclarify.language.english.word_classes import FUNCTION_WORDS, INTERROGATIVES, STOP_WORDS
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.words import PIECE, word_set

_ENGLISH: Final = STOP_WORDS | FUNCTION_WORDS
# English words around a title or a saying in another language: "cast of Como agua para chocolate".
_FRAMING: Final = frozenset((*INTERROGATIVES, "of", "the"))
# Words that also occur in English texts, alone or in names: "World War II in color", "Charles de Gaulle", "El Paso".
_TELL_NOTHING: Final = word_set(
    "de la le les las los el du des del della di da do dos das die der van von den ten het st san santa und et"
    " war er son sin con come hat hay plus dove pod ale mit man pour till per tu entre se si ma mi pas tot ob en mal"
    " op am an in man w z"
)
# Frequent words with little meaning. Those that are also English words count for both languages.
_OTHERS: Final = (
    # German
    word_set(
        "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war wird"
        " werden wurde hat haben kann können darf muss müssen soll ich wir ihr sie es er mein meine mich mir man sich"
        " was wer wie wo wann warum wieso weshalb welche welcher welches welchen welchem wohin woher in im an am auf"
        " aus bei beim mit nach von vom vor zu zum zur für über unter um durch ohne gegen bis als auch noch nur wenn"
        " dass ob gibt kostet geht mehr viel viele etwa jede jeder jedes jeden hier dort dauert"
    ),
    # French
    word_set(
        "le la les un une des du de au aux et ou mais ne pas est sont était être avoir peut peux puis doit faut"
        " je tu il elle on nous vous ils elles mon ma mes son sa ses notre votre vos ce cet cette ces que qui quoi"
        " quel quelle quels quelles quand où comment pourquoi combien dans en sur sous pour par avec sans chez vers"
        " entre plus moins très se si coûte"
    ),
    # Spanish
    word_set(
        "el la los las un una unos unas de del al pero no es son era fue está están ser hay ha han tiene tienen puede"
        " puedo pueden debe yo me mi mis tu su sus nos lo le les se que qué quién quiénes cuál cuáles cuándo cuánto"
        " cuánta cuántos cuántas cómo dónde por para con sin en sobre entre hasta desde como más muy si este esta"
        " estos estas ese esa cuesta"
    ),
    # Italian
    word_set(
        "il lo la gli le un uno una di del della dello dei degli delle da dal dalla al alla ai in nel nella su sul"
        " sulla con per tra fra ma non sono era ha hanno può posso possono deve si mi ci che chi cosa quale quali"
        " quando quanto quanta quanti quante come dove perché cui mio mia suo sua più anche se questo questa costa"
    ),
    # Portuguese
    word_set(
        "os as um uma de do da dos das em no na nos nas ao por pelo pela para com sem ou mas não são foi está estão"
        " tem têm pode posso podem deve há eu me meu minha seu sua se que quem qual quais quando quanto quanta quantos"
        " quantas como onde porque mais muito este esta custa"
    ),
    # Dutch
    word_set(
        "de het een en of maar niet geen is zijn was wordt worden heeft hebben kan kunnen mag moet moeten ik je jij wij"
        " we hij zij ze mijn uw ons onze wat wie waar wanneer waarom hoe welke hoeveel in op aan met van voor naar bij"
        " uit over door om te tot als ook nog er dat die dit deze kost"
    ),
    # Polish
    word_set(
        "w z na do nie się jest są to że jak po za od czy ile kiedy gdzie dla lub oraz przez przy który która którą"
        " które którego której może można mogę muszę musi trzeba tylko już albo ale pod ze we przed jaki jaka jakie"
        " jaką jakiego jakiej co kto kogo komu czego dlaczego mam ma mój moja moje ten ta te tego tej tym by być był"
        " była było będzie wynosi kosztuje"
    ),
    # Swedish, Danish and Norwegian
    word_set(
        "och og att at en ett et som på är er av af för for till til inte ikke det den de med var har jag jeg kan vad"
        " hvad hva vem hvem när når hvornår hur hvordan hvor varför hvorfor om eller min mitt sin från fra skal ska"
    ),
)
_TELLING: Final = tuple(known - _ENGLISH - _TELL_NOTHING for known in _OTHERS)
_FEWEST: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN: Final = re.compile(r"[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff]")
# A word in small letters with a letter that English does not have.
_ACCENTED: Final = re.compile(r"\b[a-z\u00df-\u024f]*[\u00df-\u024f]")
# Frequent English words that similar languages do not have. One word in six of English prose is among them.
_ONLY_ENGLISH: Final = word_set(
    "the and of to with that this which by from it are were been has have had not their its they who when you your"
)
_LEAST_ENGLISH: Final = 0.05
_LATIN_LETTER: Final = re.compile(r"[a-z]")
_OTHER_LETTER: Final = re.compile(r"[^\W\d_a-z]")
# Only Spanish questions begin with it.
_SPANISH: Final = "\u00bf"
# The beginning of a long text suffices.
_READ: Final = 4000


# A question is checked for each of its passages, and a passage for many questions.
@lru_cache(maxsize=1024)
def is_foreign(text: str) -> bool:
    """Tell whether a text is plainly in another language than English.

    It is if most of its letters are not Latin, or if it has at least two frequent words of another language, and more
    of them than English ones. If it has an English question word, "of" or "the", the difference must be at least two.
    Names and a few words without grammar ("rental cars", "Charles de Gaulle") count as English.

    Args:
        text: Any text; the first 4,000 characters are read.
    """
    text = text[:_READ]
    is_plain = text.isascii()
    if not is_plain and (2 * len(_LATIN.findall(text)) < sum(map(str.isalpha, text)) or _SPANISH in text):
        return True
    words = frozenset(_WORD.findall(text.lower()))
    english = words & _ENGLISH
    frequent, telling = max(
        (len(words & known), len(words & own)) for known, own in zip(_OTHERS, _TELLING, strict=True)
    )
    is_accented = not is_plain and _ACCENTED.search(text) is not None
    if not telling and not is_accented:
        return frequent > _FEWEST + len(english)
    hits = frequent + (1 if telling and is_accented else 0)
    return hits >= _FEWEST and hits > len(english) + (0 if words.isdisjoint(_FRAMING) else 1)


# A check asks this twice, and another question may ask it again.
@lru_cache(maxsize=64)
def is_english(text: str) -> bool:
    """Tell whether a text is in English, by its letters and its most frequent words.

    Args:
        text: Any text. A text with too few words does not count as English.
    """
    folded = without_accents(fold(text))
    if not folded.isascii() and len(_OTHER_LETTER.findall(folded)) > len(_LATIN_LETTER.findall(folded)):
        return False
    found = PIECE.findall(folded)
    return sum(word in _ONLY_ENGLISH for word in found) >= max(1.0, _LEAST_ENGLISH * len(found))


def counts_as_english(text: str, question: str) -> bool:
    """Whether a text is in English, also if it is too short to tell: "Goods may be returned within thirty days.".

    Args:
        text: A passage.
        question: What is asked about it.
    """
    return is_english(text) or (text.isascii() and not is_foreign(text) and not is_foreign(question))
