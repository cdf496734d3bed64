// The console: who is there, which scope, which view.
import { Problem, ask as call, at, mayWrite, me, signIn } from "./api.js";
import { $, button, count, empty, field, form, h, hush, p, span, tell, to, words } from "./dom.js";
import { ask } from "./ask.js";
import { memories, memory, remember } from "./memories.js";
import { go, here, link } from "./place.js";
import { review } from "./review.js";
import { state } from "./state.js";

const VIEWS = { memories, memory, ask, remember, state, review };
const TABS = { memories: "Memories", ask: "Ask", remember: "Remember", state: "State", review: "Review" };
const PAGE = 50, AT_ONCE = 4;
let turn = new AbortController(); // what is under way for the place one is at

// --- who is there ---

async function start() {
  try {
    const { door } = await call("GET", "ready");
    const open = door !== "keys";
    $("warning").replaceChildren(...(open ? warning(door) : []));
    $("shell").hidden = false; // not before: the warning would push it down
    if (!open && !me.key) return signInView();
    me.who = await call("GET", "v1/key");
    $("door").replaceChildren(...(open ? [] : identity()));
    await Promise.all([scopes(), show()]);
  } catch (error) {
    refused(error);
  }
}

const CREATE = "holdfast keys create NAME";
const warning = (door) => [p("", h("strong", {}, `This server is ${door}.`),
  " Every program here may read and write all of it. ", h("code", {}, CREATE), " closes it.")];

function identity() {
  const { key, tenant, rights, prefix } = me.who;
  const told = h("span", { title: `tenant ${tenant}` }, "key ", words(key), ` · ${rights.join(", ")}`,
    prefix && [" · ", words(prefix), "…"]);
  return [told, button("Sign out", () => (signIn(null), location.reload()), "plain")];
}

function refused(error) {
  if (error.status !== 401) return tell(error);
  signIn(null);
  signInView();
  tell(error);
}

function signInView() {
  me.who = null;
  $("door").replaceChildren();
  $("scopes").replaceChildren();
  const enter = ({ key }) => {
    const given = key.value.trim();
    if (!/^[\x21-\x7e]+$/.test(given)) throw new Problem("This is no key.", "A key begins with hf_.");
    hush();
    signIn(given);
    return start();
  };
  const key = h("input", { name: "key", type: "password", autocomplete: "off" });
  $("main").replaceChildren(h("h1", {}, "Sign in"),
    p("", "A key is made by ", h("code", {}, CREATE), " and shown once."),
    form(enter, "Sign in", "inline", field("API key", key, "kept in this tab only")));
  key.focus();
}

// --- scopes ---

async function scopes() {
  const rows = h("ul", {});
  const more = button("More scopes", () => page(rows.lastChild.dataset.scope), "more");
  const name = h("input", { placeholder: "Find or open…", "aria-label": "Find or open a scope",
    value: me.who.prefix, autocomplete: "off", spellcheck: "false" });
  const page = async (after) => {
    const prefix = name.value;
    const found = (await call("GET", "v1/scopes", { query: { prefix, after, limit: PAGE } })).scopes;
    if (prefix !== name.value) return; // more was typed meanwhile
    const made = found.map(scopeRow);
    after ? rows.append(...made) : rows.replaceChildren(...made);
    more.hidden = found.length < PAGE;
    here().scope || welcome(found.length || prefix);
    counts(made);
  };
  name.addEventListener("input", () => page().catch(refused));
  const open = (event) => (event.preventDefault(), name.value && go(name.value));
  await page();
  const search = h("form", { submit: open, role: "search" }, name);
  $("scopes").replaceChildren(h("h2", {}, "Scopes"), search, rows, more);
  mark();
}

const scopeRow = (scope) =>
  h("li", { "data-scope": scope }, to(link(scope), words(scope)), h("span", { class: "count" }, "…"));

async function counts(rows) {
  const left = [...rows];
  const work = async () => {
    for (let row = left.shift(); row; row = left.shift()) {
      const told = await stats(row.dataset.scope).catch(() => null);
      row.lastChild.replaceChildren(told ? told.memories.toLocaleString("en") : "?");
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const stats = async (scope, signal) => call("GET", at("scopes", scope, "stats"), { signal });

function mark() {
  const { scope } = here();
  document.body.classList.toggle("inside", scope !== "");
  for (const row of $("scopes").querySelectorAll("li")) {
    const chosen = row.dataset.scope === scope;
    chosen ? row.firstChild.setAttribute("aria-current", "true") : row.firstChild.removeAttribute("aria-current");
  }
}

function welcome(some) {
  const hint = some ? "Choose a scope to see what is known there."
    : "Nothing is stored yet. Type a name and press Enter to open a scope; the first memory makes it.";
  $("main").replaceChildren(h("h1", {}, "What does your agent know?"), empty(hint));
}

// --- where one is ---

async function show() {
  turn.abort();
  turn = new AbortController();
  const { signal } = turn;
  const place = here();
  if (!me.who) return;
  mark();
  if (!place.scope) {
    document.title = "Holdfast";
    if ($("scopes").children.length) welcome($("scopes").querySelector("li"));
    return;
  }
  $("main").setAttribute("aria-busy", "true");
  try {
    const view = VIEWS[place.view] ?? memories;
    const [told, made] = await Promise.all([stats(place.scope, signal), view({ ...place, signal })]);
    if (signal.aborted) return;
    document.title = `${place.scope} · Holdfast`;
    $("main").replaceChildren(...heading(place, told), ...[made].flat(Infinity).filter(Boolean));
    counted(told);
    ($("main").querySelector("[autofocus]") ?? $("main")).focus({ preventScroll: true });
  } catch (error) {
    if (!signal.aborted) failed(place, error);
  } finally {
    if (!signal.aborted) $("main").removeAttribute("aria-busy");
  }
}

function failed(place, error) {
  refused(error);
  if (error.status !== 401) $("main").replaceChildren(...heading(place), empty(words(error.message)));
}

function counted(told) {
  const row = [...$("scopes").querySelectorAll("li")].find((one) => one.dataset.scope === told.scope);
  if (row) row.lastChild.replaceChildren(told.memories.toLocaleString("en"));
  else if (told.memories + told.states) scopes().catch(refused);
}

function heading({ scope, view }, told) {
  const current = view === "memory" ? "memories" : view;
  const tab = (name) => h("a", { href: link(scope, name), "aria-current": name === current && "page" }, TABS[name]);
  const shown = Object.keys(TABS).filter((name) => name !== "remember" || mayWrite());
  return [h("a", { class: "up", href: "#/" }, "‹ All scopes"), words(scope, "h1"), summary(scope, told),
    h("nav", { "aria-label": "Views" }, shown.map(tab))];
}

function summary(scope, told) {
  if (!told) return p("facts");
  const { memories, versions, sessions, states, waiting, embedder } = told;
  const some = ([kind, number]) => to(link(scope, "memories", null, [["kind", kind]]), words(kind), ` ${number}`);
  const kinds = Object.entries(told.kinds).sort((a, b) => b[1] - a[1]).map(some);
  return p("facts", h("b", {}, count(memories, "memory", "memories")), kinds, span(count(versions, "version")),
    span(count(sessions, "session")), span(count(states, "state key")),
    waiting > 0 && h("span", { class: "warn" }, `${waiting} wait for a vector`), span(words(embedder)));
}

$("skip").addEventListener("click", (event) => (event.preventDefault(), $("main").focus()));
addEventListener("hashchange", () => (hush(), show()));
start();
