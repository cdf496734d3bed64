// Elements out of plain values. Whatever was stored arrives as text nodes, never as markup.

// What a reader would not see, or what would reorder what they see; emoji and Persian need U+200C/D.
const HIDDEN = /(?![\n\r\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const NEAR = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const SPANS = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [604800, "day", 86400]];

export const $ = (id) => document.getElementById(id);

export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return made;
}

export const p = (kind, ...children) => h("p", { class: kind }, ...children);
export const span = (...children) => h("span", {}, ...children);
export const to = (href, ...children) => h("a", { href }, ...children);
export const row = (...children) => h("div", { class: "row" }, ...children);
export const acts = (...children) => h("div", { class: "acts" }, ...children);
export const empty = (text) => p("empty", text);

// Somebody's words: isolated from the page's own direction, with hidden characters made visible.
export function words(text, tag = "span") {
  const made = h(tag, { class: "words", dir: "auto" });
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const sign = h("span", { class: "hidden", title: "a hidden character" }, `U+${code}`);
    made.append(text.slice(at, found.index), sign);
    at = found.index + found[0].length;
  }
  made.append(text.slice(at));
  return made;
}

export function when(iso, near = false) {
  const date = new Date(iso);
  const seconds = (date - Date.now()) / 1000;
  const span = near && SPANS.find(([most]) => Math.abs(seconds) < most);
  const said = span ? NEAR.format(Math.round(seconds / span[2]), span[1]) : (near ? DAY : EXACT).format(date);
  return h("time", { datetime: iso, title: iso }, said);
}

export const count = (number, one, many = `${one}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export const field = (label, control, hint) =>
  h("label", { class: "field" }, span(label, hint && h("small", {}, ` ${hint}`)), control);

export const list = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);

// --- telling ---

export function say(...parts) {
  const close = h("button", { type: "button", class: "plain", "aria-label": "Dismiss", click: hush }, "×");
  $("notice").replaceChildren(h("div", {}, ...parts), close);
  $("notice").className = "";
}

export function hush() {
  $("notice").replaceChildren();
}

export function tell(error) {
  if (error.name === "AbortError") return;
  const request = error.request && h("small", {}, `Request ${error.request}`);
  say(h("strong", {}, words(error.message)), error.advice && p("", words(error.advice)), request);
  $("notice").className = "bad";
}

// Does something once: its button rests meanwhile, and what goes wrong is told.
export async function once(button, work) {
  button.disabled = true;
  try {
    return await work();
  } catch (error) {
    tell(error);
  } finally {
    button.disabled = false;
  }
}

export const button = (label, work, kind = "") => {
  const made = h("button", { type: "button", class: kind, click: () => once(made, work) }, label);
  return made;
};

export function form(work, label, kind, ...fields) {
  const send = h("button", { class: "main" }, label);
  const submit = (event) => {
    event.preventDefault();
    once(send, () => work(made.elements));
  };
  const keydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) made.requestSubmit();
  };
  const made = h("form", { submit, keydown, novalidate: true, class: kind }, ...fields, acts(send));
  return made;
}

// Asks before what cannot be undone; `typed` must be written out by hand.
export function sure(title, text, act, typed) {
  return new Promise((resolve) => {
    const hand = typed && h("input", { autocomplete: "off", spellcheck: "false" });
    const yes = h("button", { type: "button", class: "bad", click: () => dialog.close("yes") }, act);
    const no = h("button", { type: "button", click: () => dialog.close() }, "Keep");
    const close = () => (dialog.remove(), resolve(dialog.returnValue === "yes"));
    const dialog = h("dialog", { "aria-labelledby": "sure", close },
      h("h2", { id: "sure" }, title), p("", text),
      typed && field(["Type ", words(typed), " to go on"], hand), acts(no, yes));
    if (typed) {
      yes.disabled = true;
      hand.addEventListener("input", () => (yes.disabled = hand.value !== typed));
    }
    document.body.append(dialog);
    dialog.showModal();
    (hand || no).focus();
  });
}
