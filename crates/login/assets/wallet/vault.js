// @ts-check
// The browser's storage: the root of all keys, encrypted with a key that scripts cannot export, and the sites that it was
// used at. The words are stored in the same way until the user has saved them, and then deleted.

const DATABASE = 'signpost-wallet';
const VAULT = 'vault';
const SITES = 'sites';
const ROOT = 'root';
const WORDS = 'words';
/** Remains if a browser clears only its databases, so that the loss of a wallet is detected. */
const MARK = 'signpost-wallet';

/**
 * @typedef {{ key: CryptoKey, iv: Uint8Array<ArrayBuffer>, sealed: ArrayBuffer }} Sealed
 * @typedef {{ domain: string, publicKey: string, first: number, last: number }} Site times in milliseconds
 */

/** @returns {Promise<'whole' | 'none' | 'lost'>} */
export async function lookForWallet() {
  if (await get(VAULT, ROOT)) return 'whole';
  return hadWallet() ? 'lost' : 'none';
}

/**
 * Stores the root, which is zeroed afterwards, and the words if the user has not saved them yet.
 * @param {Uint8Array<ArrayBuffer>} root
 * @param {string[] | null} words
 */
export async function keepRoot(root, words) {
  const sealedRoot = await seal(root);
  root.fill(0);
  const sealedWords = words && (await seal(new TextEncoder().encode(words.join(' '))));
  await inStores([VAULT], 'readwrite', (vault) => [
    vault.put(sealedRoot, ROOT),
    sealedWords ? vault.put(sealedWords, WORDS) : vault.delete(WORDS),
  ]);
  setMark(true);
  // Not awaited, because Firefox asks the user first. If the browser refuses, it may delete the wallet when it runs out
  // of space.
  navigator.storage?.persist?.().catch(() => false);
}

/**
 * Passes the root to `use`, and zeroes it afterwards.
 * @template T
 * @param {(root: Uint8Array<ArrayBuffer>) => Promise<T>} use
 * @returns {Promise<T>}
 * @throws if there is none, or it does not decrypt
 */
export async function withRoot(use) {
  const kept = /** @type {Sealed | undefined} */ (await get(VAULT, ROOT));
  if (!kept) throw new Error('no wallet');
  const root = await unseal(kept);
  try {
    return await use(root);
  } finally {
    root.fill(0);
  }
}

/** Returns the words that the user has not saved yet, or null. @returns {Promise<string[] | null>} */
export async function findUnsavedWords() {
  const kept = /** @type {Sealed | undefined} */ (await get(VAULT, WORDS));
  return kept ? new TextDecoder().decode(await unseal(kept)).split(' ') : null;
}

/** Deletes the words, after the user has saved them. */
export async function deleteWords() {
  await inStores([VAULT], 'readwrite', (vault) => [vault.delete(WORDS)]);
}

/** Encrypts a secret with a new key. @param {Uint8Array<ArrayBuffer>} secret @returns {Promise<Sealed>} */
async function seal(secret) {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  return { key, iv, sealed: await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, secret) };
}

/** @param {Sealed} kept */
async function unseal({ key, iv, sealed }) {
  return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed));
}

/** Deletes the keys and the sites. */
export async function forgetAll() {
  await inStores([VAULT, SITES], 'readwrite', (vault, sites) => [vault.clear(), sites.clear()]);
  setMark(false);
}

/** @param {string} domain @returns {Promise<Site | undefined>} */
export const findSite = (domain) => get(SITES, domain);

/** Returns every site, the last used first. @returns {Promise<Site[]>} */
export async function allSites() {
  const [sites] = await inStores([SITES], 'readonly', (store) => [store.getAll()]);
  return sites.sort((/** @type {Site} */ one, /** @type {Site} */ other) => other.last - one.last);
}

/** @param {string} domain @param {string} publicKey */
export async function rememberSite(domain, publicKey) {
  const now = Date.now();
  const before = await findSite(domain);
  await put(SITES, domain, { domain, publicKey, first: before?.first ?? now, last: now });
}

/** @param {string} store @param {string} name */
async function get(store, name) {
  return (await inStores([store], 'readonly', (one) => [one.get(name)]))[0];
}

/** @param {string} store @param {string} name @param {unknown} value */
const put = (store, name, value) => inStores([store], 'readwrite', (one) => [one.put(value, name)]);

/**
 * Reads and writes in a transaction. Opens the database each time, because a browser that clears its storage closes it.
 * @param {string[]} names
 * @param {IDBTransactionMode} mode
 * @param {(...stores: IDBObjectStore[]) => IDBRequest[]} use
 * @returns {Promise<any[]>}
 */
async function inStores(names, mode, use) {
  const database = await open();
  try {
    const transaction = database.transaction(names, mode);
    const requests = use(...names.map((name) => transaction.objectStore(name)));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return requests.map((request) => request.result);
  } finally {
    database.close();
  }
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => [VAULT, SITES].forEach((store) => request.result.createObjectStore(store));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function hadWallet() {
  try {
    return localStorage.getItem(MARK) !== null;
  } catch {
    return false;
  }
}

/** @param {boolean} has */
function setMark(has) {
  try {
    if (has) localStorage.setItem(MARK, 'made');
    else localStorage.removeItem(MARK);
  } catch {
    // Without the mark, a lost wallet is not detected.
  }
}
