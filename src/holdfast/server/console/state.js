// The key-value state of a scope: what is under a key, changed only over the version one has seen.
import { ask, at, mayWrite, written } from "./api.js";
import { button, field, form, h, say, sure, tell, when, words } from "./dom.js";
import { go, link } from "./place.js";

const PAGE = 100;

export async function state({ scope, id, query, signal }) {
  if (id !== null) return entry(scope, id, signal);
  const prefix = query.get("prefix") ?? "";
  const rows = h("ol", { class: "rows keys" });
  const more = button("Show more", () => page(rows.lastChild.dataset.key), "more");
  const page = async (after) => {
    const { keys } = await ask("GET", at("scopes", scope, "state"), { query: { prefix, after, limit: PAGE }, signal });
    rows.append(...keys.map((key) => h("li", { "data-key": key }, h("a", { href: link(scope, "state", key) }, words(key)))));
    more.hidden = keys.length < PAGE;
  };
  await page();
  const find = ({ prefix }) => go(scope, "state", null, prefix.value ? [["prefix", prefix.value]] : []);
  const filter = form(find, "Filter", field("Keys that begin with", h("input", { name: "prefix", value: prefix })));
  filter.className = "inline quiet";
  return [filter, rows.children.length ? [rows, more] : h("p", { class: "empty" }, "There is no such key."), mayWrite() && fresh(scope)];
}

function fresh(scope) {
  const make = async ({ key, value }) => {
    await put(scope, key.value, value.value, { "If-None-Match": "*" });
    go(scope, "state", key.value);
  };
  return h("details", {}, h("summary", {}, "New key"), form(make, "Set", field("Key", h("input", { name: "key" })), area("null")));
}

const area = (text) => field("Value", h("textarea", { name: "value", rows: 10, spellcheck: "false", class: "code" }, text), "JSON");

// The text goes as it is: read and written again, a large number would be rounded.
async function put(scope, key, text, headers) {
  try {
    JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`The value is not JSON: ${error.message}.`), { advice: "Text stands in double quotes." });
  }
  return ask("PUT", at("scopes", scope, "state", key), { text: `{"value":${text}}`, headers, exact: true });
}

async function entry(scope, key, signal) {
  let found = await ask("GET", at("scopes", scope, "state", key), { signal, exact: true });
  const path = at("scopes", scope, "state", key);
  const facts = h("p", { class: "facts" });
  const theirs = h("div", { role: "status" });
  const told = () => {
    facts.replaceChildren(h("b", {}, `version ${found.version}`), when(found.updated_at, true));
    if (found.expires_at) facts.append(h("span", {}, "expires ", when(found.expires_at)));
  };
  told();
  const changed = async (error) => {
    if (error.status !== 412) throw error;
    tell(error);
    found = await ask("GET", path, { exact: true });
    told();
    theirs.replaceChildren(h("p", { class: "warn" }, `Somebody else wrote version ${found.version}; yours is below. Saving again replaces theirs:`), words(written(found.value), "pre"));
  };
  const save = async ({ value }) => {
    try {
      found = await put(scope, key, value.value, { "If-Match": `"${found.version}"` });
    } catch (error) {
      return changed(error);
    }
    told();
    theirs.replaceChildren();
    say(`Saved as version ${found.version}.`);
  };
  const remove = async () => {
    if (!(await sure("Delete this key for good?", "Its value goes. Nothing can bring it back.", "Delete for good"))) return;
    try {
      await ask("DELETE", path, { headers: { "If-Match": `"${found.version}"` } });
    } catch (error) {
      return changed(error);
    }
    go(scope, "state");
    say("Deleted.");
  };
  const edit = [theirs, form(save, "Save", area(written(found.value))), h("p", { class: "end" }, button("Delete…", remove, "bad"))];
  return [h("p", {}, h("a", { href: link(scope, "state") }, "‹ State")), words(key, "h3"), facts, mayWrite() ? edit : words(written(found.value), "pre")];
}
