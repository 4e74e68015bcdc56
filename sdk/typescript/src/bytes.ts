// Text encodings of bytes, and HMAC in a single call: not part of WebCrypto.
const encoder = new TextEncoder();

/** @internal */
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** @internal */
export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @internal Accepts lower-case digits only. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** @internal */
export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** @internal Accepts the canonical encoding only. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** @internal */
export const toBase64Url = (bytes: Uint8Array): string => toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

/** @internal */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const padded = text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat((4 - (text.length % 4)) % 4);
  return /^[A-Za-z0-9_-]*$/.test(text) ? fromBase64(padded) : undefined;
}

/** @internal */
export async function sha256(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)));
}

const hmacKey = (key: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

/** @internal */
export async function hmac(key: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(key), message));
}

/** @internal Compares in constant time. */
export async function isHmac(tag: Uint8Array<ArrayBuffer>, key: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>): Promise<boolean> {
  return crypto.subtle.verify('HMAC', await hmacKey(key), tag, message);
}

/** @internal Compares two texts; the time depends only on the length of the first. */
export function isSame(text: string, secret: string): boolean {
  let difference = text.length ^ secret.length;
  for (let at = 0; at < text.length; at += 1) difference |= text.charCodeAt(at) ^ secret.charCodeAt(at % Math.max(1, secret.length));
  return difference === 0;
}
