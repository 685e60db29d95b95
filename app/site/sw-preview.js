// The service worker of a preview: it keeps nothing, and sends home one that an ordinary lab at this address has left.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const pages = await self.clients.matchAll({type: "window"});
  await self.registration.unregister();
  await Promise.all(pages.map((page) => page.navigate(page.url)));
})()));
