"""Statements in other languages than English, by how they begin; of other scripts, by their shape.

Only the first person is known in each: what somebody says of themselves is what is most worth
keeping. It is kept in its own words.
"""

from __future__ import annotations

import re

from holdfast import text
from holdfast.forms import alternatives

LEAST_TERMS = 2  # of these languages function words are terms, too

_LATIN = re.compile(r"[A-Za-z]{2}")
# "Ich wohne", "vivo en", "j'habite", "moro em", "abito a": in these a verb says who speaks.
_OWN = re.compile(
    alternatives(
        r"""
        ich|mein(?:e|er|em|en)?|wir|unser(?:e|er)?
        yo|soy|estoy|vivo|trabajo|tengo|uso|odio|prefiero|me (?:llamo|gustan?|encantan?|mudé)
        nos (?:mudamos|gustan?)|mis? \w+(?: \w+)? (?:es|son|se llama|vive|trabaja|está)
        je|j['’]\w+|m(?:on|a|es) \w+(?: \w+)? (?:est|sont|s['’]appelle|habite|travaille)|nous
        eu|sou|estou|moro|trabalho|tenho|prefiro|gosto|me chamo|chamo-me
        (?:o meu|a minha|meu|minha) \w+(?: \w+)? (?:é|são|se chama|mora|trabalha)
        io|sono|abito|lavoro|ho|preferisco|mi (?:chiamo|piace|piacciono|sono)
        (?:il mio|la mia|mio|mia) \w+(?: \w+)? (?:è|sono|si chiama|vive|abita|lavora)
        ik|mijn
        """
    )
    + r"\b",
    re.IGNORECASE,
)
# Small words that English has not: one of them tells the language, whatever else is said.
_TELLING = re.compile(
    r"[äöüßáéíóúñçãõâêôàèìòù]|\b"
    + alternatives(
        r"""
        ich|und|der|das|ein|eine|nicht|ist|bin|habe|wir|mit|für|auf|bei|gegen|seit
        mein(?:e|er|em|en)?|unser(?:e|er)?
        el|los|las|una|con|por|para|en|mi|mis|muy|pero|soy|vivo|trabajo
        estoy|tengo|prefiero
        je|les|des|une|est|dans|avec|pour|mais|suis|mon|ma|mes|et
        eu|não|com|uma|em|meu|minha|sou|moro|tenho|prefiro
        il|gli|che|di|sono|nel|della|mio|mia|lavoro|abito
        preferisco|ik|het|een|niet|van|mijn|woon|werk
        """
    )
    + r"\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^\W*"
    + alternatives(
        r"""
        hallo|guten (?:tag|morgen|abend)|danke|bitte|tschüss|hola|buen[oa]s|gracias|por favor|adiós
        wir sehen uns|bis (?:bald|dann|morgen|später)|nos vemos|hasta|à bientôt|até|ci vediamo
        a presto
        bonjour|salut|merci|olá|bom dia|obrigad[oa]|ciao|buongiorno|grazie
        你好|您好|大家好|谢谢|多谢|再见|请|早上好|晚上好|晚安|好的|没问题|不客气|帮我|能不能
        こんにちは|こんばんは|おはよう|ありがとう|どうも|はじめまして|よろしく|すみません|さようなら|はい
        안녕|감사|고마|반갑|부탁|네[,. ]
        здравствуй|привет|спасибо|пожалуйста|пока|добрый (?:день|вечер)
        مرحبا|شكرا|नमस्ते|धन्यवाद|สวัสดี|ขอบคุณ
        """
    )
    + r"|"
    + alternatives(
        r"""
        (?:です|ます|でしょう|ません|ました)か[。.]?$|[吗嗎呢][。.]?$|(?:까|나요)[.]?$
        ください[。.!！]?$|お願い|(?:주세요|해줘|줄래)[.!]?$|かもしれ|たぶん|も?しかしたら|也许|可能|大概|如果
        아마|может быть|наверное|возможно|если бы
        \b(?:vielleicht|möchte|würde|könnte|hätte|glaube|denke|vermutlich|wahrscheinlich|wenn ich)\b
        \b(?:quizás?|tal vez|creo|quisiera|podría|gustaría|probablemente|si yo|ojalá)\b
        \b(?:peut-être|pense|crois|voudrais|aimerais|pourrais|probablement|si je)\b
        \b(?:talvez|acho|gostaria|poderia|provavelmente|se eu)\b
        \b(?:forse|penso|credo|vorrei|potrei|magari|se io|probabilmente)\b
        \b(?:misschien|denk|zou)\b
        \b(?:müde|froh|glücklich|traurig|bien|mal|cansad[oa]|content[oae]|fatiguée?|stanc[oa])[.!]*$
        """
    ),
    re.IGNORECASE,
)
PREFERENCE = re.compile(
    alternatives(
        r"""
        \b(?:mag|liebe|hasse|bevorzuge|lieblings\w+|allergisch|gustan?|encantan?|odio|prefiero
        alérgic[oa]|aime|adore|déteste|préfère|allergique|gosto|adoro|prefiro|piace|piacciono
        preferisco|allergic[oa])\b
        喜欢|讨厌|过敏|好き|嫌い|アレルギー|좋아|싫어|알레르기|люблю|ненавижу|аллергия
        """
    ),
    re.IGNORECASE,
)


def foreign(sentence: str) -> bool:
    """True if a sentence is in another language: of another script, or begun and worded in one."""
    if not sentence.isascii() and not _LATIN.search(sentence) and text.terms(sentence):
        return True
    found = _OWN.match(sentence) or _NOTHING.match(sentence)
    return found is not None and _TELLING.search(sentence) is not None


def own(sentence: str) -> bool:
    """True if it speaks of whoever says it."""
    return _OWN.match(sentence) is not None


def states(sentence: str) -> bool:
    """True if it tells something of whoever says it, as true."""
    told = len(text.terms(sentence)) >= LEAST_TERMS
    return told and not _NOTHING.search(sentence)
