// What is held in quarantine, and why; approved it becomes a memory, rejected it is gone.
import { ask, at, mayWrite } from "./api.js";
import { button, h, say, sure, when, words } from "./dom.js";
import { go, link } from "./place.js";

export async function review({ scope, signal }) {
  const { held } = await ask("GET", at("scopes", scope, "quarantine"), { signal });
  if (!held.length) return h("p", { class: "empty" }, "Nothing is held in quarantine.");
  return h("ol", { class: "rows" }, held.map((one) => row(scope, one)));
}

function row(scope, one) {
  const path = (verb) => at("scopes", scope, "quarantine", one.id, verb);
  const approve = async () => {
    const told = await ask("POST", path("approve"), {});
    go(scope, "review");
    say(h("strong", {}, "Approved: ", h("a", { href: link(scope, "memory", told.id) }, "it is a memory now"), "."));
  };
  const reject = async () => {
    if (!(await sure("Reject it for good?", "It is removed, and never becomes a memory.", "Reject for good"))) return;
    await ask("POST", path("reject"), {});
    go(scope, "review");
    say("Rejected.");
  };
  return h("li", {}, words(one.content, "p"),
    h("p", { class: "facts" }, h("b", { class: "warn" }, "held"), one.why.map((why) => h("span", {}, words(why))), one.source && h("span", {}, "by ", words(one.source.writer)), when(one.at, true)),
    mayWrite() && h("div", { class: "acts" }, button("Approve", approve), button("Reject…", reject, "bad")));
}
