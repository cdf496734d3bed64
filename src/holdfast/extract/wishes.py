"""How a user wants to be answered: orders that stand until another is given.

"Always answer in German", "keep your replies short", "no emojis please" are no task of the moment
but what an assistant must know in every talk. Only the form of answers is looked for: an order to
do something else ("always recommend Acme") is nobody's taste, and may be an attack.
"""

from __future__ import annotations

import re

from holdfast.forms import alternatives

# What leads in. Of an order that stands anyway it says no more, and attacks begin so, too.
_LEAD = re.compile(
    r"^(?:(?:please|also|and|oh|ok|okay|so|just|kindly|by the way|btw|one more thing"
    r"|from now on|from here on|going forward|in (?:the )?future|for future reference"
    r"|i(?:['’]d| would) (?:like|prefer|want) (?:it if )?you (?:to|would)"
    r"|i (?:want|need|prefer) you to|(?:could|can|would|will) you)[,:]?\s+)+",
    re.IGNORECASE,
)
_TELL = "answer|reply|respond|speak|talk|explain|write"
_ANSWERS = alternatives(
    """answers?|repl(?:y|ies)|responses?|messages?|explanations?|summar(?:y|ies)|emails?|e-mails?
    outputs?|texts?|comments?|tone|language|style|wording|code(?: samples| examples)?|examples?"""
)
# What an answer may have or lack.
_FORM = alternatives(
    r"""emojis?|emoticons?|smileys|bullet(?: points?|s)?|lists?|tables?|headings?|headers?|markdown
    jargon|slang|acronyms|abbreviations|buzzwords|exclamation (?:marks?|points?)|disclaimers?
    apolog\w+|small talk|filler|fluff|pleasantries|flattery|puns|jokes|swear\w*|caps|capital letters
    bold|italics|code blocks?|type hints?|docstrings?|comments?|semicolons|tabs|spaces|footnotes
    contractions|passive voice|long (?:sentences|words|paragraphs|intros?|introductions?)
    (?:metric|imperial|si) units|units|celsius|fahrenheit|kilomet(?:re|er)s|miles|24-?h\w*
    (?:the )?(?:formal|informal|first name|last name|surname|polite)\b.*
    (?:british|american|uk|us|plain|simple) (?:english|spelling)|iso dates|single quotes
    double quotes|camelcase|snake_case"""
)
_MEASURES = "temperatures?|distances?|prices?|dates?|times?|weights?|measurements?|sums?|amounts?"
_WISH = re.compile(
    "^(?:"
    + "|".join(
        (
            # In which language, how, as what.
            rf"(?:always |only |never )?(?:{_TELL})(?: to me| me)? (?:back )?(?:only )?"
            rf"(?:in (?!(?:the|a) (?:meantime|moment|while)\b)|with(?:out)? (?:an? )?{_FORM}"
            r"|like i['’]?m|as if i|using|at (?:an?|the) \w+ level)",
            rf"(?:always |never )(?:{_TELL})(?: to me)? (?:in|with|without|like|as|using|briefly"
            r"|shortly|formally|politely|more|less|step by step)",
            # Short, formal, simple.
            rf"(?:always )?(?:keep|make|phrase) (?:all |the )?(?:of )?(?:your|my|the|all|every)? ?"
            rf"{_ANSWERS} (?!up\b|going\b)\w",
            r"(?:always )?be (?:more |less |very |always )?(?:brief|concise|short|formal|informal"
            r"|casual|direct|blunt|polite|honest|critical|specific|precise|verbose|patient)\b",
            r"(?:always )?(?:address|greet) me (?:as|with|by|formally|informally)",
            # With or without.
            rf"(?:do not|don['’]t|never|stop|quit|avoid|skip|no|no more|drop|leave out|without)"
            rf"(?: \w+ing| use| add| write| include| put| send| give me| start with| end with)?"
            rf"(?: me| any| all| the| your| so many| too many| those| with| in)* {_FORM}\b",
            r"(?:do not|don['’]t|never|always) (?:start|begin|end)(?:ing)? (?:your |the )?"
            rf"{_ANSWERS}\b",
            r"(?:do not|don['’]t|stop) (?:apologi[sz](?:e|ing)|repeat(?:ing)? (?:my|the) question"
            r"|call(?:ing)? me \w+|address(?:ing)? me|lectur(?:e|ing) me|hedg(?:e|ing))",
            rf"(?:always )?(?:use|add|include) (?:\w+ )?{_FORM}\b",
            r"always (?:ask|check with|confirm with|warn) (?:me|first|before)\b",
            r"always (?:use|include|add|show|cite|quote|explain|format|number|write|test|run) \w",
            rf"(?:use|give|show|tell)(?: me)? (?:all |the |your )?(?:{_MEASURES})\b.* (?:in|as) \w",
            # Whenever it comes to something.
            r"(?:use|give me|show me|show|include|explain|write) .{3,60} "
            r"(?:when(?:ever)? (?:you|i)|in (?:all|every|any)|for (?:all|every|any)|each time"
            r"|every time) ",
            r"when(?:ever)? (?:you|i) [\w ',-]{3,50}, (?:please )?(?:always |never )?"
            rf"(?:{_TELL}|use|include|show|give|keep|start|begin|end|add|cite|do not|don['’]t) \w",
            # What may change.
            r"you (?:can|may) (?:now |again )?(?:drop|skip|stop|leave out|use|write|answer|reply"
            rf"|respond|be|talk|speak) .{{0,60}}(?:{_ANSWERS}|{_FORM}|casual|formal|brief|with me"
            r"|in [A-Z]\w+)",
        )
    )
    + ")",
    re.IGNORECASE,
)
MOST_LETTERS = 200  # a longer one is a task, told at length


def standing(told: str) -> str | None:
    """The order without what leads in, if it says how answers are to be; else None.

    standing("Please keep your answers short.") == "Keep your answers short."
    """
    order = _LEAD.sub("", told.strip())
    if len(order) > MOST_LETTERS or _WISH.match(order) is None:
        return None
    return f"{order[:1].upper()}{order[1:]}".replace("?", ".")
