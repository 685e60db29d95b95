// node service_worker.mjs SCRIPTS: plays the browser to service workers and tells what they did.
// SCRIPTS is JSON: {one, two}: two versions of the script, filled in; {files: {one, two}}: path → text of their files.
import { readFileSync, writeFileSync } from "node:fs";
import vm from "node:vm";

const { scripts, files } = JSON.parse(readFileSync(process.argv[2], "utf8"));

/** The caches of one origin, which outlive the workers. */
class Caches {
  stores = new Map();
  async keys() { return [...this.stores.keys()]; }
  async delete(name) { return this.stores.delete(name); }
  async open(name) {
    if (!this.stores.has(name)) this.stores.set(name, new Map());
    const store = this.stores.get(name);
    return {
      match: async (url) => store.get(String(url))?.clone(),
      delete: async (url) => store.delete(String(url)),
      put: async (url, response) => void store.set(String(url), response.clone()),
    };
  }
}

/** A server: what it has by path, and a list of what it was asked for. */
class Server {
  constructor(root, files) { Object.assign(this, { root, files, asked: [], up: true }); }
  async fetch(resource, options = {}) {
    if (!this.up) throw new TypeError("Failed to fetch");
    const path = new URL(resource.url ?? resource).pathname.slice(new URL(this.root).pathname.length) || "index.html";
    this.asked.push([path, options.cache ?? "default"]);
    const text = (options.cache === "default" ? this.stale?.[path] : undefined) ?? this.files[path];
    return text === undefined ? new Response("", { status: 404 }) : new Response(text);
  }
}

/** Runs a worker's script; the answer has `install`, `activate`, `message` and `get`. */
function worker(script, root, caches, server) {
  const listeners = {};
  const self = {
    location: new URL("sw.js", root),
    skipped: 0,
    claimed: 0,
    addEventListener: (type, listener) => { listeners[type] = listener; },
    skipWaiting() { this.skipped += 1; },
    clients: { claim: async () => { self.claimed += 1; } },
  };
  const context = { self, caches, crypto, URL, Response, Promise, Set, Uint8Array, JSON, Object, Array, Error };
  vm.runInNewContext(script, { ...context, fetch: (...request) => server.fetch(...request) });
  const wait = async (type, event = {}) => {
    const waits = [];
    listeners[type]({ ...event, waitUntil: (promise) => waits.push(promise) });
    await Promise.all(waits);
  };
  return {
    self,
    install: () => wait("install"),
    activate: () => wait("activate"),
    message: (data, ports = []) => wait("message", { data, ports }),
    /** The text that the worker answers with; null when it leaves the request to the browser. */
    async get(url, options = {}) {
      let answer = null;
      const request = { url: new URL(url, root).href, method: "GET", headers: new Headers(options.headers), ...options };
      if (!(request.headers instanceof Headers)) request.headers = new Headers(request.headers);
      listeners.fetch({ request, respondWith: (response) => { answer = response; } });
      return answer && (await (await answer).text());
    },
  };
}

const attempt = async (action) => {
  try {
    await action();
    return { ok: true };
  } catch (error) {
    return { failed: error.message };
  }
};

const ROOT = "https://lab.example/some/path/";
const found = {};

{ // A first visit, then offline.
  const caches = new Caches();
  const server = new Server(ROOT, files.one);
  const first = worker(scripts.one, ROOT, caches, server);
  await first.install();
  await first.activate();
  found.firstAsked = server.asked.splice(0);
  server.up = false;
  found.offline = {};
  for (const path of Object.keys(files.one)) found.offline[path] = await first.get(path);
  found.root = await first.get("./");
  found.query = await first.get("?from=mail&x=1#num_pages=14");
  found.skippedByItself = first.self.skipped;
  found.leftAlone = {
    otherHost: await first.get("https://elsewhere.example/some/path/index.html"),
    otherPath: await first.get("https://lab.example/another/index.html"),
    notListed: await first.get("site.json"),
    post: await first.get("./", { method: "POST" }),
    range: await first.get("index.html", { headers: { range: "bytes=0-1" } }),
    strange: await first.get("%E0%A4%A"),
  };

  // A new version: only what is new is fetched; both work until the old one is not used any more.
  server.up = true;
  server.files = files.two;
  const second = worker(scripts.two, ROOT, caches, server);
  await second.install();
  found.secondAsked = server.asked.splice(0);
  server.up = false;
  found.oldWhileNewWaits = await first.get("./");
  second.message({ type: "something else" });
  found.skippedUnasked = second.self.skipped;
  second.message({ type: "activate" });
  found.skippedWhenAsked = second.self.skipped;
  await second.activate();
  found.newPage = await second.get("./");
  const gone = Object.keys(files.one).find((path) => !(path in files.two));
  found.oldFileForAnOldTab = await second.get(gone);
  found.cachesAfterTwo = await caches.keys();

  // Back to the first version, as after a mistake, and on to the second again: two are kept, never more.
  server.up = true;
  const third = worker(scripts.one.replace("VERSION-ONE", "VERSION-THREE"), ROOT, caches, server);
  server.files = files.one;
  await third.install();
  await third.activate();
  found.cachesAfterThree = await caches.keys();
}

{ // A file that is not the one of this version, then the right one.
  const caches = new Caches();
  const path = Object.keys(files.one).find((name) => name !== "index.html");
  const server = new Server(ROOT, { ...files.one, [path]: "altered on the way" });
  const careful = worker(scripts.one, ROOT, caches, server);
  found.altered = await attempt(careful.install);
  found.alteredKept = [];
  for (const store of caches.stores.values()) {
    for (const response of store.values()) if ((await response.clone().text()) === "altered on the way") found.alteredKept.push(path);
  }
  server.files = files.one;
  const before = server.asked.splice(0).map(([asked]) => asked);
  found.again = await attempt(careful.install);
  const after = server.asked.map(([asked]) => asked);
  found.askedAgain = { path, after, twice: before.filter((asked) => after.includes(asked)) };
}

{ // An old cache that was damaged is not copied from.
  const caches = new Caches();
  const server = new Server(ROOT, files.one);
  const first = worker(scripts.one, ROOT, caches, server);
  await first.install();
  await first.activate();
  const shared = Object.keys(files.one).find((path) => path !== "index.html" && files.two[path] === files.one[path]);
  for (const store of caches.stores.values()) {
    const key = new URL(shared, ROOT).href;
    if (store.has(key)) store.set(key, new Response("damaged"));
  }
  server.files = files.two;
  const second = worker(scripts.two, ROOT, caches, server);
  await second.install();
  await second.activate();
  server.up = false;
  found.healed = [await second.get(shared), files.two[shared]];
}

{ // Copies that were damaged or lost, when the page asks: also where the browser's own copy is no better.
  const caches = new Caches();
  const server = new Server(ROOT, files.one);
  const first = worker(scripts.one, ROOT, caches, server);
  await first.install();
  const check = async () => {
    let told = null;
    await first.message({ type: "check" }, [{ postMessage: (replaced) => { told = replaced; } }]);
    return told;
  };
  server.asked.splice(0);
  found.checked = { whole: await check(), asked: server.asked.splice(0) };
  const [store] = caches.stores.values();
  const [hurt, lost] = Object.keys(files.one).filter((path) => path !== "index.html");
  const damage = () => {
    store.set(new URL(hurt, ROOT).href, new Response("damaged"));
    store.delete(new URL(lost, ROOT).href);
  };
  damage();
  server.stale = { [hurt]: "damaged" };
  found.checked.replaced = await check();
  found.checked.askedThen = server.asked.splice(0);
  found.checked.expected = [[hurt, "default"], [hurt, "reload"], [lost, "default"]];
  damage();
  server.up = false;
  found.checked.offline = await check();
  server.up = true;
  found.checked.later = await check();
  server.up = false;
  found.checked.same = true;
  for (const path of Object.keys(files.one)) found.checked.same &&= (await first.get(path)) === files.one[path];
}

{ // Two labs on one origin.
  const caches = new Caches();
  const below = `${ROOT}deeper/`;
  const labs = [ROOT, below].map((root) => worker(scripts.one, root, caches, new Server(root, files.one)));
  for (const lab of labs) {
    await lab.install();
    await lab.activate();
  }
  await caches.open("somebody else's");
  const update = worker(scripts.two, ROOT, caches, new Server(ROOT, files.two));
  await update.install();
  await update.activate();
  const last = worker(scripts.one.replace("VERSION-ONE", "VERSION-THREE"), ROOT, caches, new Server(ROOT, files.one));
  await last.install();
  await last.activate();
  found.together = await caches.keys();
}

writeFileSync(process.argv[3], JSON.stringify(found));
