"""Small words of other languages: what a question in them is made of, and void of topic.

English ones are no terms at all (`text.STOP`). These stay terms of what is remembered, as each is
a telling word of some other language; of a question they are left out once its language is clear.
"""

from __future__ import annotations

import re

from holdfast.text import STOP, fold

_LISTS = (
    # German
    """aber alle als am an auch auf aus bei beim bin bis das dass dem den der des die doch du ein
    eine einem einen einer er es fur hab habe haben hat hatte hier ich ihm ihn ihr ihre ihrem ihren
    im in ist ja kann kein keine man mein meine meinem meinen meiner mich mir mit nach nicht noch
    nur ob oder schon sein seine seinem seinen sich sie sind so uber um und uns unser unsere vom
    von vor wann war waren warum was welche welchem welchen welcher welches wem wen wenn wer werden
    wessen wie wieviel wir wird wo wofur woher wohin zu zum zur""",
    # Spanish
    """a al algun alguna ante antes aun como con cual cuales cuando cuanta cuantas cuanto cuantos de
    del desde donde el ella ellos en era es esa ese eso esta estaba estan estas este esto fue ha han
    hasta hay la las le les lo los mas me mi mis muy ni no nos nuestra nuestro o para pero por
    porque que quien quienes se ser si sin sobre son su sus te tiene tienen tu tus un una uno y ya
    yo""",
    # French
    """a ai au aux avait avant avec ce ces cet cette chez combien comment d dans de depuis des du
    elle elles en est et etait eu il ils j je l la le les leur leurs lui m ma mais me mes moi mon n
    ne nos notre nous on ont ou par pas pendant plus pour pourquoi qu quand que quel quelle quelles
    quels qui quoi s sa se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y""",
    # Italian
    """a ad al alla alle anche c che chi ci come con cosa cui d da dal dalla dei del della delle di
    dove e ed era gli ha hanno ho i il in io l la le lo loro ma mi mia mie miei mio ne nei nel nella
    noi non o per perche piu qual quale quali quando quanta quante quanti quanto se si sono su sua
    sue sul sulla suo suoi ti tra tu tua tuo un una uno""",
    # Portuguese
    """a ao aos as com como da das de do dos e ela ele em era essa esse esta este eu foi ha isso lhe
    mais mas me meu meus minha minhas muito na nao nas no nos o onde os ou para pela pelo por porque
    qual quais quando quanta quantas quanto quantos que quem sao se sem ser seu seus sua suas tem
    um uma voce""",
    # Dutch
    """aan al als bij dan dat de der deze die dit door een en er geen had heb hebben heeft hem het
    hij hoe hoeveel hun ik in is je kan maar me met mij mijn na naar niet nog of om ons onze ook op
    over te tot uit van voor waar waarom wanneer wat we welk welke wie wij worden wordt ze zich
    zijn""",
)
TONGUES = tuple(frozenset(words.split()) for words in _LISTS)
# Words of these languages that English has, too: alone they tell nothing ("red hat, die cast").
SHARED = STOP | frozenset(
    """ad al ante as bin come con da dal dan dat de del den der des die do dos du e el en er es et
    fur ha hat he hem het hun i il kan la las le les lo los ma mal man mas met mi mis na naar ne o
    os ou par pas per plus pour que se sin son sono sua sue sur te ten ti ton tot tu um un van vos
    war wen y ya ze""".split()
)

_WORD = re.compile(r"[^\W\d_]+")
_EVERY = frozenset().union(*TONGUES) - SHARED


def left_out(query: str) -> str:
    """A query without its small words; one in English, or an unknown language, as it is."""
    words = [_plain(word) for word in _WORD.findall(query)]
    if _EVERY.isdisjoint(words):
        return query
    small = max((tongue.intersection(words) for tongue in TONGUES), key=len)
    if len(small) <= max(1, len(STOP.intersection(words))):
        return query
    return _WORD.sub(lambda word: "" if _plain(word[0]) in small else word[0], query)


def _plain(word: str) -> str:
    return fold(word).casefold()
