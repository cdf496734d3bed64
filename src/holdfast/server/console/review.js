// What is held in quarantine, and why; approved it becomes a memory, rejected it is gone.
import { ask, at, mayWrite } from "./api.js";
import { acts, button, empty, h, p, say, span, sure, to, when, words } from "./dom.js";
import { go, link } from "./place.js";

export async function review({ scope, signal }) {
  const { held } = await ask("GET", at("scopes", scope, "quarantine"), { signal });
  if (!held.length) return empty("Nothing is held in quarantine.");
  return h("ol", { class: "rows" }, held.map((one) => item(scope, one)));
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
