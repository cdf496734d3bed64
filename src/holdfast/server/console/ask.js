// What an agent would get for a question: the hits and why, and the block that goes into a prompt.
import { ask as call, at } from "./api.js";
import { field, form, h, words } from "./dom.js";
import { go, link } from "./place.js";
import { conflicts, facts, names } from "./memories.js";

const WEIGHTS = { similarity: 0.6, recency: 0.2, frequency: 0.2 };

export async function ask({ scope, query, signal }) {
  const asked = query.get("q") ?? "", budget = query.get("budget") || "1000", then = query.get("as_of") ?? "";
  const answer = h("div", { class: "answer" });
  if (asked) answer.append(...(await answered(scope, asked, Number(budget), then, signal)));
  const search = ({ q, budget, then }) => go(scope, "ask", null, [["q", q.value], ["budget", budget.value], ["as_of", then.value]].filter(([, value]) => value));
  const made = form(search, "Ask", field("A question, as an agent would have it", h("input", { name: "q", value: asked, autofocus: !asked })),
    field("Budget", h("input", { name: "budget", inputmode: "numeric", value: budget }), "tokens"),
    field("As of", h("input", { name: "then", type: "datetime-local", value: then }), "or now"));
  made.className = "asking";
  return [made, answer];
}

async function answered(scope, query, budget, then, signal) {
  const body = { query, ...(then && { as_of: new Date(then).toISOString() }) };
  const [found, { context }] = await Promise.all([
    call("POST", at("scopes", scope, "recall"), { body: { ...body, limit: 10 }, signal }),
    call("POST", at("scopes", scope, "context"), { body: { ...body, budget }, signal }),
  ]);
  for (const one of [...(found.hits ?? []), ...(found.avoid ?? [])]) {
    if (one.conflicts?.length) conflicts.set(one.memory.id, one.conflicts);
  }
  return [h("section", {}, h("h3", {}, "Recall"), degraded(found), avoided(scope, found.avoid), hits(scope, found)), prompt(context, budget)];
}

const degraded = (found) => found.degraded && h("p", { class: "warn", role: "status" }, "Degraded: ", words(found.degraded));

const avoided = (scope, avoid) => avoid?.length > 0 && h("section", { class: "avoid" }, h("h4", {}, "To avoid"),
  h("ol", { class: "rows" }, avoid.map((one) => hit(scope, one))));

function hits(scope, found) {
  if (found.hits?.length) return h("ol", { class: "rows" }, found.hits.map((one) => hit(scope, one)));
  if (found.avoid?.length) return null;
  return h("p", { class: "empty" }, found.abstained ? "Nothing relevant: there are memories, and none is about this." : "Nothing relevant: there is no memory to look through.");
}

function hit(scope, { memory, score, why, conflicts: others = [], outdated_by: newer = [], confirmed }) {
  return h("li", {}, bar(score, why), h("a", { href: link(scope, "memory", memory.id) }, words(memory.content)), facts(memory), reason(why),
    confirmed > 1 && h("p", { class: "facts" }, `told by ${confirmed}`),
    others.length > 0 && h("div", { class: "dispute" }, "In conflict with", names(scope, others)),
    newer.length > 0 && h("div", { class: "dispute" }, "Partly outdated by", names(scope, newer)));
}

function bar(score, why) {
  const parts = Object.entries(WEIGHTS).map(([name, weight]) => {
    const part = h("i", { class: name, title: `${name} ${why[name].toFixed(2)}, of which ${weight} count` });
    part.style.width = `${100 * weight * why[name]}%`;
    return part;
  });
  return h("div", { class: "score" }, h("b", {}, score.toFixed(2)), h("div", { class: "bar", role: "img", "aria-label": `score ${score.toFixed(2)}` }, parts));
}

function reason(why) {
  const meaning = why.meaning == null ? "no vector" : `meaning ${why.meaning.toFixed(2)}`;
  const matched = why.matched?.length ? [" (", words(why.matched.join(", ")), ")"] : [];
  return h("p", { class: "why" },
    h("span", { class: "similarity" }, `similarity ${why.similarity.toFixed(2)} from ${meaning}, words ${why.words.toFixed(2)}`, matched),
    h("span", { class: "recency" }, `recency ${why.recency.toFixed(2)}`), h("span", { class: "frequency" }, `frequency ${why.frequency.toFixed(2)}`));
}

const prompt = (context, budget) => h("section", {}, h("h3", {}, "In the prompt"),
  context ? words(context, "pre") : h("p", { class: "empty" }, "Nothing: the block is empty."),
  h("p", { class: "why" }, `At most ${budget.toLocaleString("en")} tokens; ${context.length.toLocaleString("en")} characters.`));
