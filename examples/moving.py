"""A scope moves house: exported as lines of JSON, looked at, imported into another store."""

import json
import tempfile
from pathlib import Path

from holdfast import Memory


def main(folder: Path) -> None:
    with Memory("helpdesk", f"sqlite:///{folder / 'old.db'}") as old:
        id = old.remember("The office closes at six", tags=["hours"]).id
        old.revise(id, "The office closes at five")
        old.remember("Ticket 42 is about the printer", meta={"ticket": 42})
        old.set("last_ticket", 42)
        lines = list(old.export())
    print(f"exported {len(lines)} lines")

    # An export is plain: anything can read it.
    records = [json.loads(line) for line in lines]
    for record in records:
        print(f"  {record['type']:<8} {record.get('content', record.get('key', ''))}")

    with Memory("front-desk", f"sqlite:///{folder / 'new.db'}") as new:
        print(new.import_(lines))
        print(f"now:    {new.read(id).content}")
        print(f"before: {new.history(id)[0].content}")
        print(f"state:  {new.get('last_ticket')}")
        print(f"again:  {new.import_(lines)}")
        assert [json.loads(line) for line in new.export()] == records


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
