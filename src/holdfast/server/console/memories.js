// What a scope knows: the list, one memory with its history, and the ways to change either.
import { ask, at, mayWrite, written } from "./api.js";
import { acts, button, count, empty, field, form, h, list, p, row, say, span, sure, to, when, words } from "./dom.js";
import { go, link } from "./place.js";

const KINDS = "preference decision fact context interaction temporary lesson episodic semantic procedural";

const kinds = () => h("datalist", { id: "kinds" }, KINDS.split(" ").map((value) => h("option", { value })));

// One line of facts about a memory.
export function facts({ kind, tags = [], session, source, pinned, avoid, until, happened_at: moment }) {
  return p("facts", h("b", {}, words(kind)), tags.map((tag) => h("span", { class: "tag" }, words(tag))),
    pinned && span("pinned"), avoid && h("span", { class: "warn" }, "avoid"), until && span("no longer true"),
    session && span("in ", words(session)), source && span("by ", words(source.writer)), when(moment, true));
}

const item = (scope, memory) =>
  h("li", {}, to(link(scope, "memory", memory.id), words(memory.content)), facts(memory));

export async function memories({ scope, query, signal }) {
  const filter = { kinds: query.getAll("kind"), tags: query.getAll("tag"), session: query.get("session") };
  const filtered = filter.kinds.length || filter.tags.length || filter.session;
  const rows = h("ol", { class: "rows" });
  const more = button("Show older ones", () => page(more.dataset.cursor), "more");
  const page = async (cursor) => {
    const asked = { query: { ...filter, cursor, limit: 25 }, signal };
    const told = await ask("GET", at("scopes", scope, "memories"), asked);
    const made = told.memories.map((memory) => item(scope, memory));
    rows.append(...made);
    if (cursor) made[0]?.querySelector("a").focus();
    more.hidden = !told.cursor;
    more.dataset.cursor = told.cursor ?? "";
  };
  await page();
  const none = filtered ? "No memory fits these filters." : "Nothing is remembered here yet.";
  return [filters(scope, filter), rows.children.length ? [rows, more] : empty(none),
    mayWrite() && forgetMany(scope, filter, filtered)];
}

function filters(scope, chosen) {
  const search = ({ kind, tag, session }) => {
    const pairs = (name, values) => values.map((value) => [name, value]);
    const name = session.value.trim();
    const wanted = [...pairs("kind", list(kind.value)), ...pairs("tag", list(tag.value))];
    go(scope, "memories", null, [...wanted, ...pairs("session", name ? [name] : [])]);
  };
  return form(search, "Filter", "filters quiet",
    field("Kind", h("input", { name: "kind", list: "kinds", value: chosen.kinds.join(", ") })),
    field("Tags", h("input", { name: "tag", value: chosen.tags.join(", ") }), "all of them"),
    field("Session", h("input", { name: "session", value: chosen.session })), kinds());
}

function forgetMany(scope, filter, filtered) {
  const forget = async (body, text, typed) => {
    const sentence = `${text} Nothing can bring it back.`;
    if (!(await sure("Forget for good?", sentence, "Forget for good", typed))) return;
    forgotten(scope, await ask("POST", at("scopes", scope, "forget"), { body }));
  };
  const fitting = () => {
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value?.length));
    return forget(given, "Every memory that fits these filters goes, on this page or not, with its history.");
  };
  const whole = () =>
    forget({ everything: true }, "Every memory and state key of this scope goes, with all history.", scope);
  return p("end", filtered ? button("Forget all that fit these filters…", fitting, "bad")
    : button("Forget the whole scope…", whole, "bad"));
}

function forgotten(scope, { memories, states, at: moment, digest }) {
  go(scope, "memories");
  const said = `Forgotten: ${count(memories, "memory", "memories")}, ${count(states, "state key")}.`;
  say(h("strong", {}, said), p("", when(moment), " · receipt ", h("code", {}, digest.slice(0, 16))));
}

// --- one memory ---

export async function memory({ scope, id, signal }) {
  const paths = [[], ["history"], ["marks"]].map((rest) => at("scopes", scope, "memories", id, ...rest));
  const asked = paths.map((one) => ask("GET", one, { signal, exact: true }));
  const [found, { versions }, marks] = await Promise.all(asked);
  return [p("", to(link(scope, "memories"), "‹ Memories")),
    h("article", {}, words(found.content, "blockquote"), facts(found)),
    mayWrite() && changes(scope, found), disputes(scope, id, marks), details(scope, found),
    why(scope, id), past(scope, id, versions)];
}

function changes(scope, { id, content: old }) {
  const revise = async ({ content }) => {
    await ask("PUT", at("scopes", scope, "memories", id), { body: { content: content.value } });
    go(scope, "memory", id);
    say("Revised; the words it had are in its history.");
  };
  const forget = async () => {
    const text = "It goes from memory, from its history and from what was derived of it. Nothing can bring it back.";
    if (!(await sure("Forget this memory for good?", text, "Forget for good"))) return;
    forgotten(scope, await ask("POST", at("scopes", scope, "forget"), { body: { id } }));
  };
  const area = field("New words", h("textarea", { name: "content", rows: 4, dir: "auto" }, old));
  return h("div", { class: "changes" },
    h("details", {}, h("summary", {}, "Revise"), form(revise, "Save as a new version", "", area)),
    button("Forget…", forget, "bad"));
}

function disputes(scope, id, { conflicts, outdated_by: newer }) {
  const settle = (both) => async () => {
    await ask("POST", at("scopes", scope, "resolve"), { body: { id, both } });
    go(scope, "memory", id);
    say(both ? "Both stay." : "This one is right; what said otherwise is superseded.");
  };
  const ways = [button("This one is right", settle(false)), button("Both are right", settle(true))];
  const beside = (title, ids, ...more) =>
    ids.length > 0 && h("section", { class: "dispute" }, h("h3", {}, title), names(scope, ids), ...more);
  return [beside("In conflict with", conflicts, mayWrite() && acts(...ways)), beside("Partly outdated by", newer)];
}

export const names = (scope, ids) => h("ul", {}, ids.map((id) => h("li", {}, named(scope, id))));

// A memory by its id, until its words are there; one that is gone keeps its id.
function named(scope, id) {
  const made = to(link(scope, "memory", id), words(id));
  const found = ask("GET", at("scopes", scope, "memories", id));
  found.then(({ content }) => made.replaceChildren(words(content)), () => null);
  return made;
}

function details(scope, found) {
  const { source, superseded_by: by, meta = {}, expires_at: end, last_used_at: last } = found;
  const message = source?.message && [", message ", words(source.message)];
  const rows = {
    Id: h("code", {}, words(found.id)),
    Version: found.version,
    Happened: when(found.happened_at),
    Remembered: when(found.created_at),
    Source: source && [words(source.writer), ` (${source.role})`, message],
    Session: found.session && words(found.session),
    Expires: found.pinned ? "never: it is pinned" : end ? when(end) : "never",
    Used: [count(found.uses ?? 0, "time"), last && [", last ", when(last, true)]],
    "True until": found.until && when(found.until),
    "Superseded by": by && named(scope, by),
    Meta: Object.keys(meta).length > 0 && words(written(meta), "pre"),
  };
  const told = Object.entries(rows).filter(([, value]) => value);
  return h("dl", {}, told.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function why(scope, id) {
  const out = h("p", { role: "status" });
  const explain = async ({ query }) => {
    const body = { id, query: query.value };
    const told = await ask("POST", at("scopes", scope, "explain"), { body });
    const place = told.rank == null ? "" : `, rank ${told.rank}, score ${told.score.toFixed(2)}`;
    out.replaceChildren(h("b", {}, told.verdict), place, ": ", words(told.detail));
  };
  const asked = field("A question", h("input", { name: "query" }));
  return h("section", {}, h("h3", {}, "Does a question find it?"),
    form(explain, "Explain", "inline quiet", asked), out);
}

function past(scope, id, versions) {
  const version = (one) => h("li", {}, words(one.content, "p"), p("facts", h("b", {}, `version ${one.version}`),
    when(one.created_at), one.until && span("until ", when(one.until)),
    one.id !== id && span("superseded ", to(link(scope, "memory", one.id), words(one.id)))));
  const rows = versions.toReversed().map(version);
  return h("section", {}, h("h3", {}, "History"), h("ol", { class: "rows" }, rows));
}

// --- a new one ---

export async function remember({ scope }) {
  const keep = async ({ content, kind, tags, session, writer, days, pinned, avoid }) => {
    const text = (control) => control.value.trim();
    const body = { content: content.value, kind: text(kind) || "fact", tags: list(tags.value),
      pinned: pinned.checked, avoid: avoid.checked, ...(text(session) && { session: text(session) }),
      ...(text(writer) && { source: { writer: text(writer), role: "user" } }),
      ...(text(days) && { ttl: Number(text(days)) * 86400 || text(days) }) };
    became(scope, await ask("POST", at("scopes", scope, "remember"), { body }));
    content.value = "";
  };
  const input = (label, name, more = {}, hint = "") => field(label, h("input", { name, ...more }), hint);
  const box = (name, label) => h("label", {}, h("input", { type: "checkbox", name }), ` ${label}`);
  return form(keep, "Remember", "",
    field("What is to be remembered", h("textarea", { name: "content", rows: 4, dir: "auto" })),
    row(input("Kind", "kind", { list: "kinds", placeholder: "fact" }),
      input("Tags", "tags", {}, "with commas between")),
    h("details", {}, h("summary", {}, "More"),
      row(input("Session", "session"), input("Who says it", "writer"),
        input("Days to keep it", "days", { inputmode: "decimal" }, "else as its kind has it")),
      row(box("pinned", "Pinned: never fades"), box("avoid", "To avoid: it failed or was ruled out"))), kinds());
}

function became(scope, { id, created, held, redacted, superseded = [], conflicts: others = [] }) {
  const review = ["Held in quarantine: ", to(link(scope, "review"), "review it"), "."];
  const known = created ? "Remembered: " : "Known already, and reinforced: ";
  say(h("strong", {}, held ? review : [known, to(link(scope, "memory", id), words(id))]),
    redacted && p("", "Secrets were taken out of it."),
    superseded.length > 0 && h("div", {}, "It supersedes", names(scope, superseded)),
    others.length > 0 && h("div", {}, "It is in conflict with", names(scope, others)));
}
