// What a scope knows: the list, one memory with its history, and the ways to change either.
import { ask, at, mayWrite, written } from "./api.js";
import { button, count, field, form, h, list, say, sure, when, words } from "./dom.js";
import { go, link } from "./place.js";

export const KINDS = "preference decision fact context interaction temporary lesson episodic semantic procedural".split(" ");
export const conflicts = new Map(); // told by recall only: id to the ids that say otherwise

export const kinds = () => h("datalist", { id: "kinds" }, KINDS.map((kind) => h("option", { value: kind })));

// One line of facts about a memory.
export function facts(memory) {
  const { kind, tags = [], session, source, pinned, avoid, until } = memory;
  return h("p", { class: "facts" }, h("b", {}, words(kind)), tags.map((tag) => h("span", { class: "tag" }, words(tag))),
    pinned && h("span", {}, "pinned"), avoid && h("span", { class: "warn" }, "avoid"), until && h("span", {}, "no longer true"),
    session && h("span", {}, "in ", words(session)), source && h("span", {}, "by ", words(source.writer)), when(memory.happened_at, true));
}

const row = (scope, memory) =>
  h("li", {}, h("a", { href: link(scope, "memory", memory.id) }, words(memory.content)), facts(memory));

export async function memories({ scope, query, signal }) {
  const filter = { kinds: query.getAll("kind"), tags: query.getAll("tag"), session: query.get("session") };
  const filtered = filter.kinds.length || filter.tags.length || filter.session;
  const rows = h("ol", { class: "rows" });
  const more = button("Show older ones", () => page(more.dataset.cursor), "more");
  const page = async (cursor) => {
    const asked = { query: { ...filter, cursor, limit: 25 }, signal };
    const told = await ask("GET", at("scopes", scope, "memories"), asked);
    const made = told.memories.map((memory) => row(scope, memory));
    rows.append(...made);
    if (cursor) made[0]?.querySelector("a").focus();
    more.hidden = !told.cursor;
    more.dataset.cursor = told.cursor ?? "";
  };
  await page();
  const empty = filtered ? "No memory fits these filters." : "Nothing is remembered here yet.";
  return [filters(scope, filter), rows.children.length ? [rows, more] : h("p", { class: "empty" }, empty),
    mayWrite() && forgetMany(scope, filter, filtered)];
}

function filters(scope, { kinds: chosen, tags, session }) {
  const search = ({ kind, tag, session }) => {
    const wanted = [...list(kind.value).map((one) => ["kind", one]), ...list(tag.value).map((one) => ["tag", one])];
    go(scope, "memories", null, [...wanted, ...(session.value.trim() ? [["session", session.value.trim()]] : [])]);
  };
  const made = form(search, "Filter",
    field("Kind", h("input", { name: "kind", list: "kinds", value: chosen.join(", ") })),
    field("Tags", h("input", { name: "tag", value: tags.join(", ") }), "all of them"),
    field("Session", h("input", { name: "session", value: session })), kinds());
  made.className = "filters quiet";
  return made;
}

function forgetMany(scope, filter, filtered) {
  const forget = async (body, text, typed) => {
    if (!(await sure("Forget for good?", text, "Forget for good", typed))) return;
    const receipt = await ask("POST", at("scopes", scope, "forget"), { body });
    go(scope, "memories");
    said(receipt);
  };
  if (filtered) {
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value?.length));
    const text = "Every memory that fits these filters goes, on this page or not, with its history. Nothing can bring it back.";
    return h("p", { class: "end" }, button("Forget all that fit these filters…", () => forget(given, text), "bad"));
  }
  const text = "Every memory and every state key of this scope goes, with all history. Nothing can bring it back.";
  return h("p", { class: "end" }, button("Forget the whole scope…", () => forget({ everything: true }, text, scope), "bad"));
}

export function said(receipt) {
  say(h("strong", {}, `Forgotten: ${count(receipt.memories, "memory", "memories")}, ${count(receipt.states, "state key")}.`),
    h("p", {}, when(receipt.at), " · receipt ", h("code", {}, receipt.digest.slice(0, 16))));
}

// --- one memory ---

export async function memory({ scope, id, signal }) {
  const [found, { versions }] = await Promise.all([
    ask("GET", at("scopes", scope, "memories", id), { signal, exact: true }),
    ask("GET", at("scopes", scope, "memories", id, "history"), { signal, exact: true }),
  ]);
  return [h("p", {}, h("a", { href: link(scope, "memories") }, "‹ Memories")),
    h("article", {}, words(found.content, "blockquote"), facts(found)),
    mayWrite() && changes(scope, found), disputes(scope, found), details(scope, found),
    why(scope, id), past(scope, id, versions)];
}

function changes(scope, found) {
  const path = at("scopes", scope, "memories", found.id);
  const revise = async ({ content }) => {
    await ask("PUT", path, { body: { content: content.value } });
    go(scope, "memory", found.id);
    say("Revised; the words it had are in its history.");
  };
  const forget = async () => {
    const text = "It goes from memory, from its history and from what was derived of it. Nothing can bring it back.";
    if (!(await sure("Forget this memory for good?", text, "Forget for good"))) return;
    const receipt = await ask("POST", at("scopes", scope, "forget"), { body: { id: found.id } });
    go(scope, "memories");
    said(receipt);
  };
  const area = h("textarea", { name: "content", rows: 4, dir: "auto" }, found.content);
  return h("div", { class: "changes" },
    h("details", {}, h("summary", {}, "Revise"), form(revise, "Save as a new version", field("New words", area))), button("Forget…", forget, "bad"));
}

function disputes(scope, found) {
  const others = conflicts.get(found.id);
  if (!others) return null;
  const settle = (both) => async () => {
    await ask("POST", at("scopes", scope, "resolve"), { body: { id: found.id, both } });
    conflicts.delete(found.id);
    go(scope, "memory", found.id);
    say(both ? "Both stay." : "This one is right; what said otherwise is superseded.");
  };
  return h("section", { class: "dispute" }, h("h3", {}, "In conflict with"), names(scope, others),
    mayWrite() && h("div", { class: "acts" }, button("This one is right", settle(false)), button("Both are right", settle(true))));
}

export const names = (scope, ids) => h("ul", {}, ids.map((id) => h("li", {}, named(scope, id))));

// A memory by its id, until its words are there; one that is gone keeps its id.
function named(scope, id) {
  const made = h("a", { href: link(scope, "memory", id) }, words(id));
  ask("GET", at("scopes", scope, "memories", id)).then(({ content }) => made.replaceChildren(words(content)), () => null);
  return made;
}

function details(scope, found) {
  const { source, superseded_by: by, meta = {} } = found;
  const told = source && [words(source.writer), ` (${source.role})`, source.message && [", message ", words(source.message)]];
  const rows = [["Id", h("code", {}, words(found.id))], ["Version", found.version], ["Happened", when(found.happened_at)],
    ["Remembered", when(found.created_at)], ["Source", told], ["Session", found.session && words(found.session)],
    ["Expires", found.pinned ? "never: it is pinned" : found.expires_at ? when(found.expires_at) : "never"],
    ["Used", [count(found.uses ?? 0, "time"), found.last_used_at && [", last ", when(found.last_used_at, true)]]],
    ["True until", found.until && when(found.until)],
    ["Superseded by", by && named(scope, by)],
    ["Meta", Object.keys(meta).length > 0 && words(written(meta), "pre")]];
  return h("dl", {}, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function why(scope, id) {
  const out = h("p", { role: "status" });
  const explain = async ({ query }) => {
    const told = await ask("POST", at("scopes", scope, "explain"), { body: { id, query: query.value } });
    const place = told.rank == null ? "" : `, rank ${told.rank}, score ${told.score.toFixed(2)}`;
    out.replaceChildren(h("b", {}, told.verdict), place, ": ", words(told.detail));
  };
  const asked = form(explain, "Explain", field("A question", h("input", { name: "query" })));
  asked.className = "inline quiet";
  return h("section", {}, h("h3", {}, "Does a question find it?"), asked, out);
}

function past(scope, id, versions) {
  const rows = versions.toReversed().map((one) => h("li", {}, words(one.content, "p"),
    h("p", { class: "facts" }, h("b", {}, `version ${one.version}`), when(one.created_at), one.until && ["until ", when(one.until)],
      one.id !== id && ["superseded ", h("a", { href: link(scope, "memory", one.id) }, words(one.id))])));
  return h("section", {}, h("h3", {}, "History"), h("ol", { class: "rows" }, rows));
}

// --- a new one ---

export async function remember({ scope }) {
  const keep = async (given) => {
    const { content, kind, tags, session, writer, days, pinned, avoid } = Object.fromEntries([...given].filter((one) => one.name)
      .map((one) => [one.name, one.type === "checkbox" ? one.checked : one.value.trim()]));
    const body = { content, kind: kind || "fact", tags: list(tags), pinned, avoid, ...(session && { session }),
      ...(writer && { source: { writer, role: "user" } }), ...(days && { ttl: Number(days) * 86400 || days }) };
    const told = await ask("POST", at("scopes", scope, "remember"), { body });
    given.content.value = "";
    became(scope, told);
  };
  const box = (name, label) => h("label", {}, h("input", { type: "checkbox", name }), ` ${label}`);
  return form(keep, "Remember",
    field("What is to be remembered", h("textarea", { name: "content", rows: 4, dir: "auto" })),
    h("div", { class: "row" }, field("Kind", h("input", { name: "kind", list: "kinds", placeholder: "fact" })),
      field("Tags", h("input", { name: "tags" }), "with commas between")),
    h("details", {}, h("summary", {}, "More"), h("div", { class: "row" },
      field("Session", h("input", { name: "session" })), field("Who says it", h("input", { name: "writer" })),
      field("Days to keep it", h("input", { name: "days", inputmode: "decimal" }), "else as its kind has it")),
    h("div", { class: "row" }, box("pinned", "Pinned: never fades"), box("avoid", "To avoid: it failed or was ruled out"))), kinds());
}

function became(scope, told) {
  const held = ["Held in quarantine: ", h("a", { href: link(scope, "review") }, "review it"), "."];
  const kept = [told.created ? "Remembered" : "Known already, and reinforced", ": ", h("a", { href: link(scope, "memory", told.id) }, words(told.id))];
  say(h("strong", {}, told.held ? held : kept), told.redacted && h("p", {}, "Secrets were taken out of it."),
    told.superseded?.length > 0 && ["It supersedes", names(scope, told.superseded)],
    told.conflicts?.length > 0 && ["It is in conflict with", names(scope, told.conflicts)]);
  if (told.conflicts?.length) conflicts.set(told.id, told.conflicts);
}
