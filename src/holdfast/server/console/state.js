// The key-value state of a scope: what is under a key, changed only over the version one has seen.
import { Problem, ask, at, mayWrite, written } from "./api.js";
import { button, empty, field, form, h, p, say, span, sure, tell, to, when, words } from "./dom.js";
import { go, link } from "./place.js";

const PAGE = 100;

export async function state({ scope, id, query, signal }) {
  if (id !== null) return entry(scope, id, signal);
  const prefix = query.get("prefix") ?? "";
  const rows = h("ol", { class: "rows keys" });
  const more = button("Show more", () => page(rows.lastChild.dataset.key), "more");
  const item = (key) => h("li", { "data-key": key }, to(link(scope, "state", key), words(key)));
  const page = async (after) => {
    const asked = { query: { prefix, after, limit: PAGE }, signal };
    const { keys } = await ask("GET", at("scopes", scope, "state"), asked);
    rows.append(...keys.map(item));
    more.hidden = keys.length < PAGE;
  };
  await page();
  const find = ({ prefix }) => go(scope, "state", null, prefix.value ? [["prefix", prefix.value]] : []);
  const begin = field("Keys that begin with", h("input", { name: "prefix", value: prefix }));
  return [form(find, "Filter", "inline quiet", begin),
    rows.children.length ? [rows, more] : empty("There is no such key."), mayWrite() && fresh(scope)];
}

function fresh(scope) {
  const make = async ({ key, value }) => {
    await put(scope, key.value, value.value, { "If-None-Match": "*" });
    go(scope, "state", key.value);
  };
  const fields = [field("Key", h("input", { name: "key" })), area("null")];
  return h("details", {}, h("summary", {}, "New key"), form(make, "Set", "", ...fields));
}

const area = (text) =>
  field("Value", h("textarea", { name: "value", rows: 10, spellcheck: "false", class: "code" }, text), "JSON");

// The text goes as it is: read and written again, a large number would be rounded.
async function put(scope, key, text, headers) {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Problem(`The value is not JSON: ${error.message}.`, "Text stands in double quotes.");
  }
  const path = at("scopes", scope, "state", key);
  return ask("PUT", path, { text: `{"value":${text}}`, headers, exact: true });
}

async function entry(scope, key, signal) {
  const path = at("scopes", scope, "state", key);
  const facts = p("facts"), theirs = h("div", { role: "status" });
  let found;
  const seen = (told) => {
    found = told;
    facts.replaceChildren(h("b", {}, `version ${found.version}`), when(found.updated_at, true),
      found.expires_at ? span("expires ", when(found.expires_at)) : "");
    theirs.replaceChildren();
  };
  // Over the version one has seen; if there is a newer one, it is shown, and nothing is lost.
  const over = async (work) => {
    try {
      return await work({ "If-Match": `"${found.version}"` });
    } catch (error) {
      if (error.status !== 412) throw error;
      tell(error);
      seen(await ask("GET", path, { exact: true }));
      const said = `Somebody else wrote version ${found.version}; yours is below. Saving again replaces theirs:`;
      theirs.replaceChildren(p("warn", said), words(written(found.value), "pre"));
    }
  };
  const save = async ({ value }) => {
    const told = await over((headers) => put(scope, key, value.value, headers));
    if (!told) return;
    seen(told);
    say(`Saved as version ${told.version}.`);
  };
  const remove = async () => {
    const text = "Its value goes. Nothing can bring it back.";
    if (!(await sure("Delete this key for good?", text, "Delete for good"))) return;
    if (!(await over((headers) => ask("DELETE", path, { headers })))) return;
    go(scope, "state");
    say("Deleted.");
  };
  seen(await ask("GET", path, { signal, exact: true }));
  const value = written(found.value);
  const edit = [theirs, form(save, "Save", "", area(value)), p("end", button("Delete…", remove, "bad"))];
  return [p("", to(link(scope, "state"), "‹ State")), words(key, "h3"), facts,
    mayWrite() ? edit : words(value, "pre")];
}
