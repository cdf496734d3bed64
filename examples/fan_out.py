"""Async: thirty customers, each a scope of its own; one question to all of them at once."""

import asyncio
import tempfile
from pathlib import Path

from holdfast import AsyncMemory

PLANS = ["free", "basic", "premium"]


async def fill(url: str, number: int) -> None:
    async with AsyncMemory(f"customer-{number}", url) as memory:
        await memory.remember(f"The customer pays for the {PLANS[number % 3]} plan")
        await memory.remember(f"The account was opened in {1990 + number}, with voucher V-{number}")
        await memory.increment("visits", by=number)


async def ask(url: str, number: int, question: str) -> str:
    async with AsyncMemory(f"customer-{number}", url) as memory:
        found = await memory.recall(question, limit=1)
        return found[0].content if found else "nothing"


async def main(url: str) -> None:
    # Thirty writers at once share the disk's syncs.
    await asyncio.gather(*(fill(url, number) for number in range(30)))

    question = "which plan does the customer pay for?"
    answers = await asyncio.gather(*(ask(url, number, question) for number in range(30)))
    for plan in PLANS:
        print(f"{plan}: {sum(plan in answer for answer in answers)} customers")

    async with AsyncMemory("report", url) as report:
        scopes = [f"customer-{number}" for number in range(30)]
        found = await report.recall("who has voucher V-17?", limit=1, scopes=scopes)
        print(f"{found[0].memory.scope}: {found[0].content}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"sqlite:///{Path(folder) / 'customers.db'}"))
