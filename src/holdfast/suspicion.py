"""What makes a writing suspicious: orders to the assistant, tool calls, hidden characters, secrets.

Patterns catch the careless, not the clever; who writes (`trust`) decides what can do harm.
"""

from __future__ import annotations

import re
import unicodedata

from holdfast.forms import alternatives

REDACTED = "[secret]"


def _pattern(*parts: str) -> re.Pattern[str]:
    """Parts that follow each other in a sentence; each is a block of alternatives, or a gap."""
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


def _some(block: str) -> str:
    return rf"\b{alternatives(block)}"


def _gap(letters: int) -> str:
    return rf".{{0,{letters}}}?"


OVERRIDE = _pattern(
    _some("ignore|disregard|forget|override|bypass|overrule"),
    _gap(40),
    _some("previous|prior|above|earlier|all|any|your|these|the"),
    _gap(30),
    _some(
        """instruction|rule|prompt|guideline|polic|direction|safety|constraint|restriction
        system|memor|context|said|warning"""
    ),
)
# The same in other languages; some of them put the order last.
OVERRIDE_ELSEWHERE = _pattern(
    alternatives(
        r"""
        \b(?:ignorier|vergiss|vergesst|missachte)\w*.{0,50}?\b(?:anweisung|regel|vorgabe|befehl)
        \b(?:ignor|olvid|dimentic|esque[cç]|oublie)\w*.{0,50}?\b(?:instruc|instruç|instru[cz]ion
        istruzion|reglas|regras|regole|règles|consignes|órdenes|ordens)
        (?:忽略|无视|無視|忘记|忘記).{0,20}?(?:指令|指示|规则|規則|提示)
        (?:指示|命令|ルール).{0,10}?(?:無視|忘れ)|(?:지시|명령|규칙).{0,10}?(?:무시|잊)
        (?:игнорируй|забудь|не обращай внимания).{0,50}?(?:инструкц|правил|указани)
        """
    )
)
TRIGGER = _pattern(
    _some(
        """from now on|henceforth|going forward|in future|whenever|every time|each time|next time
        any ?time|when(?:ever)? (?:the |a )?(?:user|someone|anyone|asked|you see|you are asked
        queried|handling)"""
    ),
    _gap(90),
    _some(
        """you (?:must|should|will|shall|need to|have to|always|are)|always|never|must|reply
        respond|answer|recommend|say|tell|send|forward|use|redirect|include|insert|append|output
        execute|run|call|transfer|substitute|replace|refer|point|swap|route|prepend|begin|mention
        direct|switch|quietly|silently"""
    ),
    r"\b",
)
NEW_ROLE = _pattern(
    _some(
        """you are now|act as|pretend (?:to be|you)|your new (?:role|task|goal|instructions?)
        system prompt|developer mode|jailbreak"""
    ),
    r"\b",
)
SECRECY = _pattern(
    _some("do not|don['’]t|never|without"),
    " ",
    _some("tell|inform|mention|reveal|notify|alert|disclose|asking|warn"),
    r"\w*\b",
    _gap(30),
    _some("user|anyone|them|him|her|owner|admin|people|customer"),
)
LEAK = _pattern(
    _some("send|post|upload|forward|exfiltrate|e-?mail|leak|copy|transmit|bcc|cc|mirror"),
    r"\b",
    _gap(60),
    _some(
        """password|token|api key|secret|credential|data|conversation|history|files?|attachments?
        messages?|logs?|emails?|notes|memor\\w+|everything|contents?|records?|card number|keys?"""
    ),
    r"\b",
    _gap(60),
    r"(?:\bto\b|https?:|@)",
)
DUTY = _pattern(
    _some("assistant|agent|ai|model|bot|chatbot|llm|system"),
    r"\b",
    _gap(30),
    _some(
        """must|should|shall|has to|have to|needs? to|is required to|is instructed to|will always
        is now allowed|may skip|is authori[sz]ed"""
    ),
    r"\b",
)
BRIDGE = _pattern(
    _some("data|records?|queries|questions|requests?|anything"),
    r" (?:about|of|for|regarding) .{1,40} ",
    r"(?:is|are|has been|have been|was|were|should be|must be) (?:now )?",
    _some("saved|stored|moved|redirected|replaced|answered|referred|treated|found|swapped"),
    r" (?:under|with|by|to|as|using)\b",
)
ORDERS = (OVERRIDE, OVERRIDE_ELSEWHERE, TRIGGER, NEW_ROLE, SECRECY, LEAK, DUTY, BRIDGE)
CALLS = (
    _pattern(r"<\s*/?\s*(?:tool_call|function|system|assistant|memories|script|iframe)"),
    _pattern(r"<\|im_(?:start|end)\||\[/?INST\]|<<SYS>>|###\s*(?:system|instruction)"),
    _pattern(r"\"(?:tool|function|name)\"\s*:\s*\"[\w.]+\"\s*,\s*\"arg"),
    _pattern(r"\b(?:curl|wget)\b.{0,60}\|\s*(?:ba|z)?sh\b|\brm -rf\b|!\[[^\]]*\]\(https?:"),
)
BLOBS = (
    re.compile(r"(?:[A-Za-z0-9+/]{4}){24,}={0,2}"),
    _pattern(r"(?:\\x[0-9a-f]{2}){12,}|(?:%[0-9a-f]{2}){12,}"),
)
REPETITION = (re.compile(r"(.{1,40}?)\1{14,}", re.DOTALL),)
SIGNS = {
    "an instruction to the assistant": ORDERS,
    "the shape of a tool call or markup": CALLS,
    "an encoded blob": BLOBS,
    "a long repetition": REPETITION,
}
SECRET = re.compile(
    "|".join(
        (
            r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}",
            r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}",
            r"\bAIza[0-9A-Za-z_-]{30,}|\bey[JK][\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----)?",
            r"(?<=://)[^\s:/@]+:[^\s:/@]+(?=@)|\b(?:\d{4}[ -]){3}\d{4}\b",
            r"(?:(?<=password is )|(?<=password: )|(?<=password=)|(?<=passwd=)|(?<=token=)"
            r"|(?<=api_key=)|(?<=api key is )|(?<=secret=)|(?<=PIN is ))\S{4,}",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d\ufe0f\xad")  # needed by scripts, emoji and hyphenation


def found(content: str) -> tuple[str, ...]:
    """What makes a writing suspicious, in words; nothing for an ordinary one."""
    shown = unicodedata.normalize("NFKC", visible(content))
    signs = [what for what, forms in SIGNS.items() if any(form.search(shown) for form in forms)]
    return (*signs, "hidden characters") if hides(content) else tuple(signs)


def hides(content: str) -> bool:
    """True if a reader would not see all of it: invisible or reordering characters."""
    if content.isascii():
        return False
    return any(
        char in _BIDI
        or 0xE0000 <= ord(char) <= 0xE0FFF
        or (unicodedata.category(char) == "Cf" and char not in _JOINERS and at > 0)
        for at, char in enumerate(content)
    )


def visible(content: str) -> str:
    """The content as a reader sees it."""
    if content.isascii():
        return content
    return "".join(char for char in content if unicodedata.category(char) != "Cf")


def secret(content: str) -> bool:
    """True if the content holds what looks like a key, a password or a card's number."""
    return SECRET.search(content) is not None


def redacted(content: str) -> str:
    """The content with its secrets taken out."""
    return SECRET.sub(REDACTED, content)
