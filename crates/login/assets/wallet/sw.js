// @ts-check
// Keeps the wallet for when there is no network. The server writes `SHELL` above: the version, and the addresses of all
// that belongs to it. One version is kept whole or not at all; the next one takes over when no tab has this one open.

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

/** Fetches all of a version, and refuses a page of another: servers are renewed one after the other. */
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
