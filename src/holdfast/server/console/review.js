// What is held in quarantine, and why; approved it becomes a memory, rejected it is gone.
import { ask, at, mayWrite } from "./api.js";
import { acts, button, empty, h, p, say, span, sure, to, when, words } from "./dom.js";
import { go, link } from "./place.js";

const PAGE = 25;
const MOST = 1000; // that are told at once; those behind come as the ones before them are settled

// The oldest come first and stay first, so a longer list begins as the shorter one did.
export async function review({ scope, signal }) {
  const rows = h("ol", { class: "rows" });
  const more = button("Show newer ones", () => page(), "more");
  const page = async () => {
    const shown = rows.children.length;
    const limit = Math.min(shown + PAGE + 1, MOST);
    const { held } = await ask("GET", at("scopes", scope, "quarantine"), { query: { limit }, signal });
    const made = held.slice(shown, shown + PAGE).map((one) => item(scope, one));
    rows.append(...made);
    if (shown) made[0]?.querySelector("button")?.focus();
    more.hidden = held.length <= rows.children.length;
  };
  await page();
  return rows.children.length ? [rows, more] : empty("Nothing is held in quarantine.");
}

function item(scope, { id, content, why, source, at: moment }) {
  const path = (verb) => at("scopes", scope, "quarantine", id, verb);
  const approve = async () => {
    const told = await ask("POST", path("approve"), {});
    go(scope, "review");
    say(h("strong", {}, "Approved: ", to(link(scope, "memory", told.id), "it is a memory now"), "."));
  };
  const reject = async () => {
    const text = "It is removed, and never becomes a memory.";
    if (!(await sure("Reject it for good?", text, "Reject for good"))) return;
    await ask("POST", path("reject"), {});
    go(scope, "review");
    say("Rejected.");
  };
  return h("li", {}, words(content, "p"),
    p("facts", h("b", { class: "warn" }, "held"), why.map((one) => span(words(one))),
      source && span("by ", words(source.writer)), when(moment, true)),
    mayWrite() && acts(button("Approve", approve), button("Reject…", reject, "bad")));
}
