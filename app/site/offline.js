// The service worker: makes later visits work without the server, and never reloads a page by itself.

/** Register it; `offer(apply)` is called when a new version waits. `apply()` switches to it and reloads. */
export async function setUpOffline(offer) {
  if (!("serviceWorker" in navigator)) return;
  let registration;
  try {
    registration = await navigator.serviceWorker.register("sw.js", {scope: "./", updateViaCache: "none"});
  } catch {
    return; // not a secure context, or the browser forbids it: the lab works, but only while its server does
  }
  let asked = false;
  const controlled = () => {
    if (navigator.serviceWorker.controller) document.documentElement.dataset.offline = "ready"; // no server needed now
  };
  controlled();
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    controlled();
    if (asked) location.reload(); // only in the tab in which somebody agreed
  });
  const ready = (worker) => offer(() => {
    asked = true;
    worker.postMessage({type: "activate"});
  });
  if (registration.waiting && navigator.serviceWorker.controller) ready(registration.waiting);
  const watch = (worker) => worker?.addEventListener("statechange", () => {
    if (worker.state === "installed" && navigator.serviceWorker.controller) ready(worker);
  });
  watch(registration.installing); // the browser may have found it before we asked
  registration.addEventListener("updatefound", () => watch(registration.installing));
}

/** Have damaged copies of the site's files replaced. @returns {Promise<number>} how many were, as far as is known */
export async function healCopies() {
  const keeper = navigator.serviceWorker?.controller;
  if (!keeper) return 0;
  return new Promise((resolve) => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = ({data}) => resolve(data);
    keeper.postMessage({type: "check"}, [port2]);
  });
}
