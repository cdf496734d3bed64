"""Whom to believe: trust by the class of the writer, and what a scope takes from whom.

Trust is bound to who writes, never to what the text says of itself. What is derived from several
is trusted as the least trusted of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast import suspicion
from holdfast.model import ACTIONS, Policy, Source, Voice

TRUST = {"user": 1.0, "agent": 0.8, "import": 0.6, "tool": 0.4, "document": 0.3}
CLAIM = 0.5  # told by one source trusted less than this, it is shown as a claim
ACCEPT, HOLD, REJECT = ACTIONS


def of(role: str | None) -> float:
    """How far a class of writers is trusted, 0..1; one who is not named is an agent."""
    return TRUST.get(role or "agent", 0.3)


def of_source(source: Source | None) -> float:
    """How far a source is trusted, 0..1."""
    return of(source.role if source else None)


def rules(by: Voice | None) -> bool:
    """Whether what comes by a key may stand over what others told: pinned, or in its place."""
    return by is None or of(by.role) >= CLAIM


def said(source: Source | None, by: Voice | None) -> Source | None:
    """A source as the key it came by allows: believed as far as that, and no further.

    What only claims has the name of its key: under many names it would confirm itself.
    """
    if by is None:
        return source
    claimed = source or Source("")
    role = min(claimed.role, by.role, key=of)
    return Source(claimed.writer if rules(by) else by.name, role, claimed.message, by.key)


def least(sources: Iterable[Source | None]) -> Source | None:
    """The least trusted of some sources: what is derived from them all is no better."""
    named = [source for source in sources if source is not None]
    return min(named, key=lambda source: of(source.role), default=None)


def decided(policy: Policy, role: str | None, content: str) -> tuple[str, tuple[str, ...]]:
    """What a scope does with a writing, and why: the strictest of what applies."""
    reasons: list[tuple[str, str]] = []
    by_role = policy.roles.get(role or "agent", ACCEPT)
    if by_role != ACCEPT:
        reasons.append((by_role, f"written by a {role or 'agent'}"))
    if policy.suspicious != ACCEPT:
        reasons.extend((policy.suspicious, what) for what in suspicion.found(content))
    if policy.secrets == REJECT and suspicion.secret(content):
        reasons.append((REJECT, "a secret"))
    action = max((action for action, _ in reasons), key=ACTIONS.index, default=ACCEPT)
    return action, tuple(what for _, what in reasons)
