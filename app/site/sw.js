// The service worker: keeps one complete version of the site, so that it works without its server and never mixes
// the files of two versions. It takes over only when nobody uses the old version any more, or when the page asks.

/** {version, files: {path from the site's root: sha256 in hexadecimal}} */
const SITE = /* filled in by the builder */ null;

const ROOT = new URL("./", self.location.href);
// Caches belong to an origin, and two labs may share one: the path tells them apart.
const PREFIX = `serving-lab ${ROOT.pathname} `;
const CACHE = PREFIX + SITE.version;
/** Notes the order in which versions were used, so that the one before this can be kept. */
const NOTES = PREFIX + "notes";
const PAGE = "index.html";
const AT_ONCE = 4; // files fetched side by side while installing

/** Where a file is asked for, and kept under. The page is asked for as its folder: some hosts redirect its file name. */
const address = (path) => new URL(path === PAGE ? "./" : path, ROOT).href;
const isHashed = (path) => /^(assets|lab|python|runtime|vendor)-[0-9a-f]+\//.test(path);

/** The path of a URL from the site's root; null for what is not ours. The page answers to its folder's name too. */
function pathOf(url) {
  if (url.origin !== ROOT.origin || !url.pathname.startsWith(ROOT.pathname)) return null;
  return url.pathname.slice(ROOT.pathname.length) || PAGE;
}

// ---- install -------------------------------------------------------------------------------------------------

async function sha256(response) {
  const digest = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A response of one of our other caches for a file that never changes under its name. */
async function fromOlder(path) {
  if (!isHashed(path)) return undefined;
  for (const name of await caches.keys()) {
    if (!name.startsWith(PREFIX) || name === CACHE) continue;
    const found = await (await caches.open(name)).match(address(path));
    if (found) return found;
  }
  return undefined;
}

async function keep(cache, path) {
  if (await cache.match(address(path))) return;
  const old = await fromOlder(path);
  if (old && (await sha256(old.clone())) === SITE.files[path]) {
    await cache.put(address(path), old);
    return;
  }
  // What the browser's own cache has of a hashed file is as good as new, unless it was damaged; anything else is asked for.
  for (const how of isHashed(path) ? ["default", "reload"] : ["no-cache"]) {
    const response = await fetch(address(path), { cache: how, redirect: "error" });
    if (!response.ok) throw new Error(`${path}: status ${response.status}`);
    if ((await sha256(response.clone())) === SITE.files[path]) return cache.put(address(path), response);
  }
  throw new Error(`${path} is not the file of this version`);
}

async function install() {
  const cache = await caches.open(CACHE);
  const waiting = Object.keys(SITE.files);
  const next = async () => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) await keep(cache, path);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Fetches again what is missing or is not as it was sent. Returns how many files that were. */
async function check() {
  const cache = await caches.open(CACHE);
  let replaced = 0;
  for (const path of Object.keys(SITE.files)) {
    const found = await cache.match(address(path));
    if (found && (await sha256(found)) === SITE.files[path]) continue;
    await cache.delete(address(path)); // the server's is better, also if it cannot be had at this moment
    try {
      await keep(cache, path);
      replaced += 1;
    } catch {
      // Without a connection the next check has it to do.
    }
  }
  return replaced;
}

// ---- activate ------------------------------------------------------------------------------------------------

/** Keeps this version and the one used before it (a tab may still show it); forgets the rest. */
async function tidy() {
  const notes = await caches.open(NOTES);
  const noted = await (await notes.match(ROOT.href))?.json();
  const previous = noted?.current === CACHE ? noted.previous : noted?.current;
  await notes.put(ROOT.href, new Response(JSON.stringify({ current: CACHE, previous: previous ?? null })));
  const kept = new Set([CACHE, NOTES, previous]);
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && !kept.has(name)) await caches.delete(name);
  }
}

// ---- fetch ---------------------------------------------------------------------------------------------------

async function answer(request, path) {
  const cache = await caches.open(CACHE);
  const found = (await cache.match(address(path))) ?? (await fromOlder(path));
  return found ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(install()));
// The page of a first visit was not served by anybody's service worker: from now on it is.
self.addEventListener("activate", (event) => event.waitUntil(tidy().then(() => self.clients.claim())));
self.addEventListener("message", (event) => {
  if (event.data?.type === "activate") self.skipWaiting();
  if (event.data?.type === "check") event.waitUntil(check().then((replaced) => event.ports[0].postMessage(replaced)));
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("range")) return;
  const path = pathOf(new URL(request.url));
  if (path === null || !(path in SITE.files || isHashed(path))) return;
  event.respondWith(answer(request, path));
});
