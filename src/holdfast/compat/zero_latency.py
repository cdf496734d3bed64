"""`Memory(key)` with `recall(query).text` and `add(text)`, as a 0Latency tutorial writes it."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast import Memory as Holdfast
from holdfast import Recalled
from holdfast.model import Extracted

PART_CHARS = 4000


@dataclass(frozen=True)
class Recollection:
    """What was recalled: a block for a prompt in `text`, and the hits themselves."""

    text: str
    hits: Recalled

    def __str__(self) -> str:
        return self.text


class Memory:
    """A memory under an agent's name; the key is used where the store is a server."""

    def __init__(
        self, api_key: str | None = None, agent_id: str = "default", url: str | None = None
    ) -> None:
        self._memory = Holdfast(agent_id, url, api_key=api_key)

    def add(self, text: str) -> Extracted:
        """Keeps what was said, line by line, and learns what lasts of it."""
        said = [part for line in text.splitlines() for part in _parts(line)]
        return self._memory.extract(said, keep="both")

    def recall(self, query: str, limit: int = 10, max_tokens: int = 2000) -> Recollection:
        """What answers a query, else what comes nearest, as a block of at most `max_tokens`.

        The hits beside it are those that do answer it.
        """
        ask = self._memory.context
        block = ask(query, max_tokens) or ask(query, max_tokens, min_score=0.0)
        return Recollection(block, self._memory.recall(query, limit))

    def close(self) -> None:
        """Lets go of the store."""
        self._memory.close()


def _parts(line: str) -> list[str]:
    said = line.strip()
    return [said[at : at + PART_CHARS] for at in range(0, len(said), PART_CHARS)]
