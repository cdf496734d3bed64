"""What a new statement ends, in whatever words: looked for before it is written.

The nearest of what is known, and of what is told along with it, is read beside it by a model
(`extract.taught`). That takes some milliseconds a pair, too long for a transaction. What it finds
is put to `reconcile` inside the write, where whatever is no longer so by then is left alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from holdfast import lifetime, sentences, speech, suspicion, text
from holdfast.engine import Draft, Place
from holdfast.extract import reconcile, signs, taught, tongues, wishes
from holdfast.extract.taught import Reader
from holdfast.keeping import TURN
from holdfast.model import Record
from holdfast.slots import USER

SURE = 0.92  # from here on the model is believed that the earlier statement no longer holds
CERTAIN = 0.96  # and from here on of two that have no word in common but a name
NEAR = 8  # statements that a new one is read beside: of those known, and of those told with it
ALIKE = 0.3  # cosine; what is told together must come so near
HALF = 0.5  # under it, a part of what is ended still holds
MOST_LETTERS = 300  # a longer one tells too much to be ended as a whole
MOST_TERMS = 8  # words that say something, of what can be ended; one with more tells a story
# What happened, happened, and what is seen on a picture was. But what is closed, was decided or has
# not happened yet is so.
_STANDING = re.compile(
    r"(?:\b(?:am|are|is|be|been)|['’](?:m|re|s)|n['’]t|\bnever)"
    r"(?: (?:not|all|been|being|still|\w+ly))* \w+"
    r"|\b(?:decided|agreed|settled|chose|picked|booked|scheduled|planned|set|called|named|located"
    r"|used|ha(?:ve|s) got|(?:my|the|his|her|their|our) left|let)\b|['’](?:ve|s) got\b"
    r"|\bgets? \w+|\b(?:the|an?|my|his|her|its|our|their) \w+ed(?= \w)"  # "the shared printer"
    r"|(?:\band|,) \w+ed (?:by|with)\b"  # "is led by Ann and sponsored by sales"
    r"|^(?:put|cut|read)\b",  # "Put milk on the list" is an order
    re.IGNORECASE,
)
# "I pay 850, bills included": the first verb tells.
_NOW = re.compile(
    r"(?:I|we|they|you)(?: (?:still|always|often|only|never|also|just|once|then|\w+ly))* "
    r"(\w+)(?![\w'’])",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:^|(?<=[.!?] ))\S+(?: \S+)? shows (?!up\b)[^.!?]*[.!?]?\s*")

_log = logging.getLogger(__name__)
Ended = Mapping[str, str | None]  # the ids of what is ended, and what is left of each, if any
Nearest = Callable[[Place, str, int], Sequence[Record]]


class Replacing:
    """What new statements end, as far as a model is sure."""

    def __init__(self, nearest: Nearest) -> None:
        self._nearest = nearest

    def ended(self, place: Place, drafts: Sequence[Draft]) -> Mapping[str, Ended]:
        """Of some drafts those that end something, by their ids, and what each ends."""
        new = [draft for draft in drafts if _states(draft.record) and _harmless(draft.record)]
        model = taught.opened() if new else None
        if model is None:
            return {}
        pairs = [
            (one.record, old)
            for at, one in enumerate(new)
            for old in (*self._nearest(place, one.record.content, NEAR), *_beside(one, new[:at]))
            if _may_end(one.record, old)
        ]
        try:
            return _found(model, pairs)
        except Exception:  # a model that fails must not keep anybody from writing
            _log.warning("What reads two statements failed; slots decide alone.", exc_info=True)
            return {}


def _found(model: Reader, pairs: Sequence[tuple[Record, Record]]) -> Mapping[str, Ended]:
    """What each new one ends of the old ones that it is paired with."""
    sure = model.sureness([(_said(old), _said(one)) for one, old in pairs])
    found: dict[str, dict[str, str | None]] = {}
    for (one, old), how in zip(pairs, sure, strict=True):
        if how >= (SURE if _of_one_matter(old, one) else CERTAIN):
            parts = reconcile.parts(old.content)
            each = [how] if len(parts) == 1 else _by_part(model, parts, old, one)
            if _told_over(parts, each):
                found.setdefault(one.id, {})[old.id] = _left(parts, each, old)
    return found


def _by_part(model: Reader, parts: Sequence[str], old: Record, new: Record) -> list[float]:
    """How sure it is of each part of a memory that it is ended."""
    return model.sureness([(shown(part, old.writer) or part, _said(new)) for part in parts])


def _told_over(parts: Sequence[str], sure: Sequence[float]) -> bool:
    """Whether something that is so is ended for sure: all that is said around it misleads."""
    return any(how >= SURE and _lasts(part) for part, how in zip(parts, sure, strict=True))


def _left(parts: Sequence[str], sure: Sequence[float], old: Record) -> str | None:
    """What of a memory still holds, if it says several things and not all of them are ended."""
    still = [part for part, how in zip(parts, sure, strict=True) if how < HALF]
    if still and signs.GOES_ON.match(still[0]):  # "It is fulfilling": nobody would know what is
        return None
    return reconcile.rest(parts, still, old.writer)


def shown(content: str, writer: str | None) -> str:
    """A statement as the model reads it: told of whoever says "I", without what is on a picture."""
    told = _CAPTION.sub("", content).strip()
    return taught.said(sentences.ended(told), writer) if told else ""


def _said(record: Record) -> str:
    return shown(record.content, record.writer)


def _of_one_matter(old: Record, new: Record) -> bool:
    """Whether both have a word in common beside a name: people talk of themselves all the time."""
    if new.writer is None or new.writer.lower() == USER:
        return True
    return bool(reconcile.in_common(_said(old), _said(new), old.writer, new.writer))


def _states(record: Record) -> bool:
    """Whether it is one statement in English, not a raw turn or a document."""
    if len(record.content) > MOST_LETTERS or record.kind == TURN or not _said(record):
        return False
    return not tongues.foreign(record.content)


def _harmless(record: Record) -> bool:
    """Whether it does not look like an attack."""
    # "From now on answer in English" begins as attacks do; what it asks for is no harm.
    return not suspicion.found(wishes.standing(record.content) or record.content)


def _may_end(new: Record, old: Record) -> bool:
    """Whether one could end the other at all: an older one ends nothing."""
    later = lifetime.known_from(new) >= lifetime.known_from(old)
    current = later and old.until is None and old.id != new.id and _states(old)
    return current and any(map(_lasts, reconcile.parts(old.content)))


def _lasts(told: str) -> bool:
    """Whether something is told in few words to be so, and not to have happened."""
    telling = sum(bool(text.terms(word)) for word in told.split())
    if telling > MOST_TERMS or _CAPTION.fullmatch(told):
        return False
    now = _NOW.match(told)
    if now and not speech.happened(now[1]):
        return True
    return not speech.happened(_STANDING.sub(" ", told))


def _beside(draft: Draft, before: Sequence[Draft]) -> list[Record]:
    """Those told before a draft, together with it, that come near."""
    if draft.vectors is None:
        return []
    vectors = ((other, other.vectors) for other in before if other.vectors is not None)
    cosines = [(float(np.max(it @ draft.vectors.T)), other.record) for other, it in vectors]
    near = sorted((one for one in cosines if one[0] >= ALIKE), key=lambda one: -one[0])
    return [record for _, record in near[:NEAR]]
