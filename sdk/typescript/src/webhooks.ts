import { fromBase64, fromHex, isHmac, utf8 } from './bytes.js';
import { SignpostError } from './error.js';
import { parseObject } from './transport.js';
import type { SignpostEvent } from './wire.js';

/** Maximum difference between `webhook-timestamp` and the server's time, in seconds. */
const TOLERANCE = 300;

/** Headers of a framework: `Headers`, or an object with names in any case. */
export type HeaderFields = Headers | Record<string, string | readonly string[] | undefined>;

export const webhooks = {
  /**
   * Verifies an event's signature, and parses the event.
   *
   * `body` is the raw body, as bytes or text; `secret` is the domain's `whsec_…`, or several during a rotation. Throws
   * `invalid_signature` (with `details.reason`: `missing`, `mismatch` or `timestamp`), `invalid_event`, `invalid_secret`,
   * and `parsed_body` if a framework has already parsed the body.
   */
  async verify(
    body: string | Uint8Array | ArrayBuffer,
    headers: HeaderFields,
    secret: string | readonly string[],
    options: { /** Milliseconds since 1970. */ now?: number | undefined } = {},
  ): Promise<SignpostEvent> {
    const bytes = readBody(body);
    await authenticate(bytes, headers, readSecrets(secret), options.now ?? Date.now());
    return readEvent(bytes);
  },
};

/** @internal Returns the identity of an event, for deduplication: its ID, else its session and kind. */
export function identityOf(event: SignpostEvent): string {
  return event.id || `${event.session_id}:${event.event}`;
}

/** @internal */
export function parsedBody(): SignpostError {
  return new SignpostError(
    'parsed_body',
    'the body of the event was parsed, or read, before its signature was checked. Express: put this before express.json(), or ' +
      "express.raw({ type: '*/*' }) on its route. Fastify: register the plugin of this package, or a content-type parser with " +
      "parseAs: 'buffer'. Next.js, Hono, Bun, Deno: await request.text() and pass that",
  );
}

/** @internal Throws `invalid_secret` if a text is not a `whsec_…`. */
export function readSecrets(secret: string | readonly string[]): string[] {
  const secrets = typeof secret === 'string' ? [secret] : [...secret];
  if (secrets.length === 0) throw new SignpostError('invalid_secret', 'no webhook secret was given');
  for (const text of secrets) {
    const length = typeof text === 'string' && text.startsWith('whsec_') ? (fromBase64(text.slice(6))?.length ?? 0) : 0;
    if (length >= 24 && length <= 64) continue;
    const space = typeof text === 'string' && text !== text.trim() ? '; the given secret begins or ends with a space or a line break' : '';
    throw new SignpostError('invalid_secret', `a webhook secret is whsec_ and base64, as the domain's registration showed it${space}`);
  }
  return secrets;
}

function readBody(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return utf8(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  throw parsedBody();
}

function header(headers: HeaderFields, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === 'object' ? value.join(', ') : value;
}

function refuse(reason: 'missing' | 'mismatch' | 'timestamp', message: string): never {
  throw new SignpostError('invalid_signature', `the event is refused: ${message}`, { details: { reason } });
}

/** @internal Throws `invalid_signature` unless the body was signed with a given secret. */
export async function authenticate(body: Uint8Array<ArrayBuffer>, headers: HeaderFields, secrets: string[], now: number): Promise<void> {
  const [own, next] = [header(headers, 'x-svc-signature'), header(headers, 'x-svc-signature-next')];
  if (own === undefined) refuse('missing', 'it has no X-Svc-Signature');
  const tags = [own, ...(next === undefined ? [] : [next])].map(fromHex);
  if (!(await matches(tags, secrets.map(utf8), body))) refuse('mismatch', 'its X-Svc-Signature does not match');
  const [id, sent, standard] = ['id', 'timestamp', 'signature'].map((part) => header(headers, `webhook-${part}`));
  if (sent !== undefined && !/^[+-]?\d{1,15}$/.test(sent)) refuse('timestamp', 'its webhook-timestamp is not a number');
  if (Math.abs(Number(sent ?? now / 1000) - Math.floor(now / 1000)) > TOLERANCE) {
    refuse('timestamp', "its webhook-timestamp is more than 5 minutes from this server's time");
  }
  if (standard === undefined) return;
  if (id === undefined || sent === undefined) refuse('mismatch', 'it has a webhook-signature without webhook-id and webhook-timestamp');
  const entries = standard.split(' ').map((entry) => (entry.startsWith('v1,') ? fromBase64(entry.slice(3)) : undefined));
  const prefix = utf8(`${id}.${Number(sent)}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const keys = secrets.map((secret) => fromBase64(secret.slice(6)) ?? new Uint8Array());
  if (!(await matches(entries, keys, signed))) refuse('mismatch', 'its webhook-signature does not match');
}

async function matches(tags: (Uint8Array<ArrayBuffer> | undefined)[], keys: Uint8Array<ArrayBuffer>[], message: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const pairs = tags.flatMap((tag) => (tag ? keys.map((key) => isHmac(tag, key, message)) : []));
  return (await Promise.all(pairs)).includes(true);
}

/** @internal */
export function readEvent(body: Uint8Array): SignpostEvent {
  const raw = parseObject(new TextDecoder().decode(body)) ?? {};
  const { id = '', event, timestamp, session_id, data } = raw;
  const kind = event === 'registration' ? 'register' : event;
  const proof = (typeof data === 'object' && !Array.isArray(data) ? (data ?? {}) : {}) as Record<string, unknown>;
  const proved = ['public_key', 'signature', 'challenge'].every((field) => typeof proof[field] === 'string') && Number.isInteger(proof['signed_at']);
  const isUsers = ['login', 'register', 'link'].includes(kind as string);
  const isAboutUser = ['user.updated', 'user.deleted', 'credential.added', 'credential.removed', 'user.signed_out'].includes(kind as string);
  const isIncomplete = (isUsers && !proved) || (isAboutUser && typeof proof['user_id'] !== 'string');
  if (![id, event, timestamp, session_id].every((field) => typeof field === 'string') || isIncomplete) {
    throw new SignpostError('invalid_event', 'the body is signed, but is no event: event, timestamp, session_id and data are required');
  }
  return { ...raw, id, event: kind, data: proof } as unknown as SignpostEvent;
}
