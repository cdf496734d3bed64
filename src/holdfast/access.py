"""Who may do what: API keys, the callers they stand for, and the rights a verb needs.

A key reads `hf_<id>_<secret>`. The id finds it; of the secret only a SHA-256 is stored, which is
enough for 256 random bits, and it is compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from holdfast import check, lifetime, ops, trust
from holdfast.engine.ledger import ApiKey, Ledger
from holdfast.errors import Forbidden, Invalid, NotFound, Unauthenticated
from holdfast.model import ROLES, Voice
from holdfast.service import LOCAL

Said = TypeVar("Said", bound=ops.Op[Any])
RIGHTS = ("read", "write", "admin")  # admin may do everything
SEEN_SECONDS = 1.0  # a key is looked up this often, so that a revoked one is out in a second
SEEN_KEYS = 10_000
STRANGE = hashlib.sha256(b"strange").digest()  # what a key that is not there is compared with
ADVICE = "Send a key as X-API-Key, as a Bearer token, or as the password of the URL."

READS: set[Any] = {
    *(ops.Recall, ops.Context, ops.Explain, ops.Read, ops.History, ops.List, ops.Get),
    *(ops.Keys, ops.Count, ops.Export, ops.Review, ops.Jobs),
}
# What says whom to believe: for keys that speak for a user.
SETTLES: set[Any] = {ops.Approve, ops.Reject, ops.Resolve, ops.Rollback, ops.SetPolicy}
OWNERS: set[Any] = {ops.Purge, ops.Doctor, ops.Work}  # about the whole store: for its owner only


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody at the door: whose data, by which key, with which rights, in which scopes."""

    tenant: str
    rights: frozenset[str]
    key: str | None = None
    prefix: str = ""
    home: str = "default"  # the scope of clients that name none
    role: str = "user"  # the class of writers that the key speaks for
    name: str = ""

    @property
    def voice(self) -> Voice | None:
        """By which key this caller writes; none is needed where the door is open."""
        return None if self.key is None else Voice(self.key, self.name, self.role)

    def may(self, right: str) -> None:
        """`Forbidden` unless the caller has a right."""
        if right not in self.rights and "admin" not in self.rights:
            raise Forbidden(f"This key lacks the right {right!r}.", "Use a key that has it.")

    def rules(self) -> None:
        """`Forbidden` unless the caller may see to the whole tenant."""
        self.may("admin")
        if self.prefix:
            raise Forbidden("This key opens some scopes only.", "Use one for the whole tenant.")

    def owns(self) -> None:
        """`Forbidden` unless the caller is the owner of the whole store."""
        self.rules()
        if self.tenant != LOCAL:
            raise Forbidden("Only the owner of the store may do this.", "Use the command line.")

    def settles(self) -> None:
        """`Forbidden` unless the caller may say whom to believe."""
        if trust.of(self.role) < trust.of("user"):
            raise Forbidden(
                f"This key speaks for a {self.role}: it does not say whom to believe.",
                "Use one that speaks for a user.",
            )

    def overrules(self) -> None:
        """`Forbidden` unless what the caller tells may stand over what others told."""
        if not trust.rules(self.voice):
            raise Forbidden(
                f"This key speaks for a {self.role}: it adds, and overrules nobody.",
                "Leave out `supersedes` and `pinned`, or use a key that is trusted further.",
            )

    def opens(self, scope: str) -> None:
        """`Forbidden` unless the caller's key opens a scope."""
        if not scope.startswith(self.prefix):
            raise Forbidden(
                "This key does not open that scope.",
                f"Its scopes begin with {self.prefix!r}.",
            )


OPEN_DOOR = Caller(LOCAL, frozenset(RIGHTS))
NOBODY = Caller("", frozenset())  # before a key was looked at


def allow(caller: Caller, op: ops.Op[Any]) -> None:
    """`Forbidden` unless the caller may do this; looks at nothing that is stored."""
    kind = type(op)
    if kind in OWNERS:
        caller.owns()
    else:
        caller.may("read" if kind in READS else "write")
    if kind in SETTLES and op != ops.SetPolicy(scope=op.scope):  # which only asks
        caller.settles()
    if kind is ops.Revise or any(it.supersedes or it.pinned for it in _drafts(op)):
        caller.overrules()
    if caller.prefix:
        for scope in (op.scope, *getattr(op, "scopes", ())):
            caller.opens(scope)


def _drafts(op: ops.Op[Any]) -> tuple[ops.Draft, ...]:
    """The memories that an op would add."""
    if isinstance(op, ops.Remember):
        return (op.draft,)
    return op.drafts if isinstance(op, ops.RememberMany) else ()


def as_said_by(caller: Caller, op: Said) -> Said:
    """The op with its writers as the caller's key has it: a body may claim less trust, not more."""
    by = caller.voice
    if by is None:
        return op
    made: Any = op
    if isinstance(op, ops.Remember):
        made = replace(op, draft=_said(op.draft, by))
    elif isinstance(op, ops.RememberMany):
        made = replace(op, drafts=tuple(_said(draft, by) for draft in op.drafts))
    elif isinstance(op, ops.Extract | ops.Revise | ops.Import):
        made = replace(op, voice=by)
    return cast(Said, made)


def _said(draft: ops.Draft, by: Voice) -> ops.Draft:
    return replace(draft, source=trust.said(draft.source, by))


class Access:
    """The keys of a store: made, changed, and recognised."""

    def __init__(self, ledger: Ledger, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._seen: dict[str, tuple[float, ApiKey | None]] = {}
        self._open: tuple[float, bool] = (0.0, False)
        self.hits = self.misses = 0  # keys that were just seen, and those that were looked up
        self.uses: dict[str, datetime] = {}  # when each key was last used; a server writes it down

    # --- making keys ---

    def create(
        self,
        name: str,
        tenant: str = LOCAL,
        rights: Sequence[str] = ("read", "write"),
        prefix: str = "",
        lasts: timedelta | None = None,
        role: str = "user",
    ) -> tuple[ApiKey, str]:
        """A new key, and its text, which is shown this once."""
        now = self._clock()
        id, secret = _random_id(), secrets.token_urlsafe(32)
        made = ApiKey(
            id=id,
            tenant=check.name("tenant", tenant),
            name=check.name("name", name, 64),
            digest=_digest(secret),
            rights=_rights(rights),
            prefix=check.name("prefix", prefix) if prefix else "",
            role=check.one_of("role", role, ROLES),
            created_at=now,
            expires_at=None if lasts is None else now + lasts,
        )
        self._ledger.put_key(made)
        return made, f"hf_{id}_{secret}"

    def rotate(self, name: str, tenant: str = LOCAL) -> tuple[ApiKey, str]:
        """A key with a new secret; the old one no longer opens anything."""
        key, secret = self._named(name, tenant), secrets.token_urlsafe(32)
        changed = replace(key, digest=_digest(secret))
        self._ledger.put_key(changed)
        self._seen.clear()
        return changed, f"hf_{key.id}_{secret}"

    def revoke(self, name: str, tenant: str = LOCAL) -> ApiKey:
        """Takes a key out of use for good."""
        gone = replace(self._named(name, tenant), revoked_at=self._clock())
        self._ledger.put_key(gone)
        self._seen.clear()
        return gone

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        """The keys of a tenant, or of all."""
        return self._ledger.keys(tenant)

    def _named(self, name: str, tenant: str) -> ApiKey:
        found = [it for it in self._ledger.keys(tenant) if it.name == name and not it.revoked_at]
        if not found:
            raise NotFound(f"There is no key {name!r} here.", "`holdfast keys list` shows them.")
        return found[0]

    # --- recognising them ---

    def caller(self, presented: str | None, local: bool) -> Caller:
        """Who presents a key; nobody needs one where none was ever made and the server is local."""
        if presented is None:
            if local and self.open():
                return OPEN_DOOR
            raise Unauthenticated("This needs a key.", ADVICE)
        if local and self.open():
            return OPEN_DOOR  # clients that insist on a key may send any
        id, secret = _parts(presented)
        key = self._look_up(id) if id else None
        matches = hmac.compare_digest(STRANGE if key is None else key.digest, _digest(secret))
        now = self._clock()
        if key is None or not matches or key.revoked_at or not lifetime.alive(key.expires_at, now):
            raise Unauthenticated("This key is not known here.", ADVICE)
        self.uses[key.id] = now
        return Caller(
            key.tenant,
            frozenset(key.rights),
            key.id,
            key.prefix,
            f"{key.prefix}{key.name}",
            key.role,
            key.name,
        )

    def at_hand(self, presented: str | None, local: bool) -> bool:
        """Whether `caller` can tell without asking the ledger."""
        fresh = time.monotonic() - SEEN_SECONDS
        asked, found = self._open
        if local and (asked < fresh or found):
            return asked >= fresh
        return presented is None or self._seen.get(_parts(presented)[0], (0.0, None))[0] >= fresh

    def open(self) -> bool:
        """Whether no key was ever made here."""
        at, found = self._open
        if time.monotonic() - at > SEEN_SECONDS:
            found = not self._ledger.any_key()
            self._open = time.monotonic(), found
        return found

    def _look_up(self, id: str) -> ApiKey | None:
        at, found = self._seen.get(id, (0.0, None))
        if time.monotonic() - at <= SEEN_SECONDS:
            self.hits += 1
        else:
            self.misses += 1
            found = self._ledger.key(id)
            if len(self._seen) >= SEEN_KEYS:
                self._seen.clear()
            self._seen[id] = time.monotonic(), found
        return found


def _parts(presented: str) -> tuple[str, str]:
    """The id and the secret of a key; no id if it is none of ours."""
    mark, _, rest = presented.partition("_")
    id, _, secret = rest.partition("_")
    return (id if mark == "hf" and len(id) == 12 else ""), secret


def _random_id() -> str:
    return secrets.token_hex(6)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _rights(wanted: Sequence[str]) -> tuple[str, ...]:
    unknown = sorted(set(wanted) - set(RIGHTS))
    if unknown or not wanted:
        raise Invalid(f"{', '.join(unknown) or 'nothing'} is no right.", "Use read, write, admin.")
    return tuple(right for right in RIGHTS if right in wanted)
