// Where one is, in the fragment of the URL: it survives a reload, and is never sent to the server.

export function link(scope, view = "memories", id = null, pairs = []) {
  const path = [scope, view, ...(id === null ? [] : [id])].map(encodeURIComponent).join("/");
  const query = new URLSearchParams(pairs).toString();
  return `#/${path}${query && `?${query}`}`;
}

// At once, not when the browser gets to it: what is said next must not be hushed by the change.
export function go(...where) {
  const hash = link(...where);
  if (location.hash !== hash) history.pushState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function here() {
  const [path, query = ""] = location.hash.slice(2).split(/\?(.*)/s);
  try {
    const [scope = "", view = "memories", id = null] = path.split("/").map(decodeURIComponent);
    return { scope, view, id, query: new URLSearchParams(query) };
  } catch {
    return { scope: "", view: "memories", id: null, query: new URLSearchParams() };
  }
}
