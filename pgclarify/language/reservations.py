# ruff: noqa: RUF001 -- letters that look like Latin ones
"""Words that deny or limit what a sentence says, in languages that have no folder of their own."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.language.words import PIECE, word_set

_RESERVING: Final = word_set(
    "nicht kein keine keinen keinem keiner niemand nie niemals nichts weder nur wenn falls sofern außer angeblich"
    " falsch pas jamais personne aucun aucune seulement sauf faux fausse prétend nie nunca jamás nadie ningún ninguna"
    " sólo solo salvo falso falsa niega mai nessuno nessun nessuna nega não ninguém nenhum nenhuma só niet geen niemand"
    " nooit alleen tenzij onwaar nikt nigdy jeśli tylko nieprawda inte ikke ingen aldrig aldri kun bara endast falskt"
    " не нет никто никогда если только неправда لا ليس ليست لم لن إلا إذا לא אין רק אם नहीं मत अगर यदि केवल δεν μη μόνο"
    " αν değil"
)
# They stand in scripts without blanks between words, or are endings.
_RESERVING_PARTS: Final = re.compile(
    "ない|なかった|ません|もし|なら|だけ|不|没|沒|未|非|无|無|别|假|如果|只|ไม่|않|아니|없|못"
)
# So many characters before and behind a quote are looked at.
_NEAR: Final = 60


def is_reserved_abroad(before: str, after: str) -> bool:
    """Whether what stands before and behind a part of a sentence may deny or limit that part."""
    beside = f"{before[-_NEAR:]}\n{after[:_NEAR]}"
    words = PIECE.findall(beside.casefold())
    return not _RESERVING.isdisjoint(words) or _RESERVING_PARTS.search(beside) is not None
