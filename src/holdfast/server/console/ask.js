// What an agent would get for a question: the hits and why, and the block that goes into a prompt.
import { ask as call, at } from "./api.js";
import { empty, field, form, h, p, span, to, words } from "./dom.js";
import { go, link } from "./place.js";
import { facts, names } from "./memories.js";

const WEIGHTS = { similarity: 0.6, recency: 0.2, frequency: 0.2 };

export async function ask({ scope, query, signal }) {
  const asked = query.get("q") ?? "", then = query.get("as_of") ?? "";
  const budget = query.get("budget") || "1000";
  const answer = h("div", { class: "answer" });
  if (asked) answer.append(...(await answered(scope, asked, Number(budget), then, signal)));
  const search = ({ q, budget, then }) => {
    const pairs = [["q", q.value], ["budget", budget.value], ["as_of", then.value]];
    go(scope, "ask", null, pairs.filter(([, value]) => value));
  };
  const question = h("input", { name: "q", value: asked, autofocus: !asked });
  return [form(search, "Ask", "asking", field("A question, as an agent would have it", question),
    field("Budget", h("input", { name: "budget", inputmode: "numeric", value: budget }), "tokens"),
    field("As of", h("input", { name: "then", type: "datetime-local", value: then }), "or now")), answer];
}

async function answered(scope, query, budget, then, signal) {
  const body = { query, ...(then && { as_of: new Date(then).toISOString() }) };
  const [found, { context }] = await Promise.all([
    call("POST", at("scopes", scope, "recall"), { body: { ...body, limit: 10 }, signal }),
    call("POST", at("scopes", scope, "context"), { body: { ...body, budget }, signal }),
  ]);
  const { hits, avoid, degraded } = found;
  const warned = degraded && h("p", { class: "warn", role: "status" }, "Degraded: ", words(degraded));
  const rows = (list) => h("ol", { class: "rows" }, list.map((one) => hit(scope, one)));
  return [h("section", {}, h("h3", {}, "Recall"), warned,
    avoid.length > 0 && h("section", { class: "avoid" }, h("h4", {}, "To avoid"), rows(avoid)),
    hits.length > 0 && rows(hits), hits.length + avoid.length === 0 && nothing(found)), prompt(context, budget)];
}

const nothing = ({ abstained }) => empty(abstained
  ? "Nothing relevant: there are memories, and none is about this."
  : "Nothing relevant: there is no memory to look through.");

function hit(scope, { memory, score, why, conflicts: others, outdated_by: newer, confirmed }) {
  const beside = (words, ids) => ids.length > 0 && h("div", { class: "dispute" }, words, names(scope, ids));
  return h("li", {}, bar(score, why), to(link(scope, "memory", memory.id), words(memory.content)),
    facts(memory), reason(why), confirmed > 1 && p("facts", `told by ${confirmed}`),
    beside("In conflict with", others), beside("Partly outdated by", newer));
}

function bar(score, why) {
  const parts = Object.entries(WEIGHTS).map(([name, weight]) => {
    const part = h("i", { class: name, title: `${name} ${why[name].toFixed(2)}, of which ${weight} count` });
    part.style.width = `${100 * weight * why[name]}%`;
    return part;
  });
  const said = score.toFixed(2);
  const whole = h("div", { class: "bar", role: "img", "aria-label": `score ${said}` }, parts);
  return h("div", { class: "score" }, h("b", {}, said), whole);
}

function reason(why) {
  const part = (name, ...more) => h("span", { class: name }, `${name} ${why[name].toFixed(2)}`, ...more);
  const meaning = why.meaning == null ? "no vector" : `meaning ${why.meaning.toFixed(2)}`;
  const matched = why.matched.length > 0 && [" (", words(why.matched.join(", ")), ")"];
  return p("why", part("similarity", ` from ${meaning}, words ${why.words.toFixed(2)}`, matched),
    part("recency"), part("frequency"));
}

function prompt(context, budget) {
  const size = `At most ${budget.toLocaleString("en")} tokens; ${context.length.toLocaleString("en")} characters.`;
  return h("section", {}, h("h3", {}, "In the prompt"),
    context ? words(context, "pre") : empty("Nothing: the block is empty."), p("why", span(size)));
}
