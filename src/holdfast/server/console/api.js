// The REST API as the console asks it: the key in a header, an error as a Problem with advice.

const STORED = "holdfast-key"; // in sessionStorage: gone with the tab
const WRITES = ["write", "admin"];
export const me = { key: sessionStorage.getItem(STORED), who: null };

export class Problem extends Error {
  constructor(message, advice, status = 0, request = null) {
    super(message);
    Object.assign(this, { advice, status, request });
  }
}

export function signIn(key) {
  me.key = key;
  if (key) sessionStorage.setItem(STORED, key);
  else sessionStorage.removeItem(STORED);
}

export const mayWrite = () => WRITES.some((right) => me.who?.rights.includes(right));

// A path out of names. A browser takes "." and ".." for steps, however they are written.
export function at(...names) {
  if (names.some((name) => name === "." || name === "..")) {
    const advice = "Use the library or the command line.";
    throw new Problem("A browser cannot ask for something named “.” or “..”.", advice);
  }
  return ["v1", ...names.map(encodeURIComponent)].join("/");
}

function addressed(path, query) {
  const all = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const given = all.filter(([, value]) => value);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

export async function ask(method, path, { query = {}, body, text, headers = {}, signal, exact } = {}) {
  if (me.key) headers = { ...headers, "X-API-Key": me.key };
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  let reply, told;
  try {
    const how = { method, headers, body: sent, signal, credentials: "omit", redirect: "error" };
    reply = await fetch(addressed(path, query), how);
    told = await reply.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server did not answer.", "See whether it runs, and try again.");
  }
  const data = parsed(told, exact);
  if (reply.ok && data !== undefined) return data;
  const message = data?.detail || `The server answered ${reply.status}.`;
  throw new Problem(message, data?.advice, reply.status, data?.request_id);
}

// JSON; with `exact`, numbers that JavaScript would round stay as they were written.
function parsed(text, exact) {
  const raw = (_, value, context) => {
    const rounded = typeof value === "number" && context?.source && context.source !== String(value);
    return rounded ? JSON.rawJSON(context.source) : value;
  };
  try {
    return JSON.parse(text, exact && JSON.rawJSON ? raw : undefined);
  } catch {
    return undefined;
  }
}

export const written = (value) => JSON.stringify(value, null, 2);
