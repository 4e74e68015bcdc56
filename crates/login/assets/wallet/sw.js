// @ts-check
// Caches the wallet for offline use. The server prepends `SHELL`: the version, and the addresses of its files. A version is
// cached completely or not at all; the next version is activated when no tab uses this version.

/** @type {{ version: string, page: string, files: string[] }} */
const { version, page, files } = SHELL;
const NAME = `wallet ${version}`;
const worker = /** @type {any} */ (globalThis);

worker.addEventListener('install', (/** @type {any} */ event) => event.waitUntil(keep()));
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(dropOthers()));
worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname, searchParams } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && pathname === page) {
    const language = searchParams.get('lang');
    event.respondWith(find(language ? `${page}?lang=${language}` : page, request));
  } else if (files.includes(pathname)) {
    event.respondWith(find(pathname, request));
  }
});

/** Fetches all files of a version. Fails for a page of another version: servers are not updated simultaneously. */
async function keep() {
  const cache = await caches.open(NAME);
  for (const address of [page, `${page}?lang=en`, `${page}?lang=es`]) {
    const reply = await fetch(address, { cache: 'no-cache' });
    const text = await reply.clone().text();
    if (!reply.ok || !text.includes(version)) throw new Error(`another version at ${address}`);
    await cache.put(address, reply);
  }
  await cache.addAll(files);
}

async function dropOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith('wallet ') && name !== NAME).map((name) => caches.delete(name)));
}

/** @param {string} address @param {Request} request */
async function find(address, request) {
  const cache = await caches.open(NAME);
  return (await cache.match(address, { ignoreVary: true })) ?? fetch(request);
}
