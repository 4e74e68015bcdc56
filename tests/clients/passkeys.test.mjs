// Authenticators' answers, checked by the server and by @simplewebauthn/server: both accept an answer, or the server's
// rejection has a reason that the library does not check.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, randomInt, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';

const vectors = JSON.parse(readFileSync(new URL('../../vectors/webauthn.json', import.meta.url)));
const ORIGIN = 'https://login.test';
const UP = 1, UV = 4, BE = 8, BS = 16, AT = 64, ED = 128;
/** Reasons that only the server checks: frames, duplicate members, keys that cannot sign, the credential ID of the browser. */
const STRICTER = ['cross_origin', 'malformed', 'key', 'algorithm', 'attestation', 'credential_id'];
const MUTATIONS = 2_000;

let program;
let verdicts;
before(() => {
  program = spawn(process.env.PASSKEYS, { stdio: ['pipe', 'pipe', 'inherit'] });
  verdicts = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
});
after(() => program.stdin.end());

const b64 = (bytes) => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes) => createHash('sha256').update(bytes).digest();

/** Returns the server's result: `{refusal}`. */
async function ours({ origin = ORIGIN, challenge, response, publicKey }) {
  const key = publicKey?.export({ type: 'spki', format: 'der' }).toString('hex');
  program.stdin.write(`${JSON.stringify({ origin, challenge: challenge.toString('hex'), response, public_key: key })}\n`);
  return JSON.parse((await verdicts.next()).value);
}

/** Returns whether the library accepts the answer. */
async function theirs({ origin = ORIGIN, challenge, response, publicKey }) {
  const expected = {
    response, expectedChallenge: b64(challenge), expectedOrigin: origin, expectedRPID: new URL(origin).hostname,
    requireUserVerification: true,
  };
  try {
    if (!publicKey) return (await verifyRegistrationResponse({ ...expected, supportedAlgorithmIDs: [-7, -257] })).verified;
    const credential = { id: response.id, publicKey: cose(publicKey), counter: 0 };
    return (await verifyAuthenticationResponse({ ...expected, credential })).verified;
  } catch {
    return false;
  }
}

/** Encodes keys and attestations in CBOR. */
function cbor(value) {
  const head = (major, n) =>
    n < 24 ? [(major << 5) + n] : n < 256 ? [(major << 5) + 24, n] : [(major << 5) + 25, n >> 8, n & 255];
  if (typeof value === 'number') return Buffer.from(value < 0 ? head(1, -1 - value) : head(0, value));
  if (typeof value === 'string') return Buffer.concat([Buffer.from(head(3, value.length)), Buffer.from(value)]);
  if (value instanceof Map) return Buffer.concat([Buffer.from(head(5, value.size)), ...[...value].flat().map(cbor)]);
  return Buffer.concat([Buffer.from(head(2, value.length)), value]);
}

function cose(publicKey) {
  const jwk = publicKey.export({ format: 'jwk' });
  const part = (name) => Buffer.from(jwk[name], 'base64url');
  if (jwk.kty === 'RSA') return cbor(new Map([[1, 3], [3, -257], [-1, part('n')], [-2, part('e')]]));
  return cbor(new Map([[1, 2], [3, -7], [-1, 1], [-2, part('x')], [-3, part('y')]]));
}

/** A passkey for both ceremonies; its answers can be changed before they are signed. */
class Passkey {
  constructor(kind) {
    const keys = kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    Object.assign(this, keys, { id: randomBytes(16), handle: randomBytes(32) });
  }

  clientData(type, challenge, lies) {
    const clientData = { type, challenge: b64(challenge), origin: ORIGIN, crossOrigin: false, ...lies.clientData };
    return Buffer.from((lies.text ?? String)(JSON.stringify(clientData)));
  }

  data(flags, attested, lies) {
    const head = [sha256(lies.rpId ?? 'login.test'), Buffer.from([(flags | UP | UV) ^ (lies.flags ?? 0), 0, 0, 0, 1])];
    return Buffer.concat([...head, attested, lies.behind ?? Buffer.alloc(0)]);
  }

  create(challenge, lies = {}) {
    const length = Buffer.from([0, this.id.length]);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, lies.key ?? cose(this.publicKey)]);
    const statement = lies.statement ?? new Map();
    const object = cbor(new Map([['fmt', lies.format ?? 'none'], ['attStmt', statement], ['authData', this.data(AT, attested, lies)]]));
    const client = this.clientData('webauthn.create', challenge, lies);
    return this.json({ clientDataJSON: b64(client), attestationObject: b64(Buffer.concat([object, lies.after ?? Buffer.alloc(0)])) }, lies);
  }

  get(challenge, lies = {}) {
    const client = this.clientData('webauthn.get', challenge, lies);
    const data = this.data(0, Buffer.alloc(0), lies);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.privateKey);
    return this.json({ clientDataJSON: b64(client), authenticatorData: b64(data), signature: b64(signature), userHandle: b64(this.handle) }, lies);
  }

  json(response, lies) {
    const id = b64(lies.id ?? this.id);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }
}

/** No attestation is requested: the server ignores statements of any format, the library rejects unknown formats. */
function isOfUnknownFormat({ response }) {
  return response.attestationObject !== undefined && !Buffer.from(response.attestationObject, 'base64url').includes('cfmtdnoneg');
}

/** Compares both results. The library accepts more DER encodings of a changed signature. */
async function compare(name, asked, changed) {
  const [{ refusal }, accepted] = [await ours(asked), await theirs(asked)];
  const stricter = STRICTER.includes(refusal) || (changed === 'signature' && refusal === 'signature');
  const agreed = (refusal === null) === accepted || (accepted ? stricter : isOfUnknownFormat(asked.response));
  assert.ok(agreed, `${name}: ours ${refusal ?? 'accepted'}, theirs ${accepted}: ${JSON.stringify(asked.response)}`);
  return { refusal, accepted };
}

test('both accept valid passkeys of both kinds', async () => {
  for (const kind of ['ec', 'rsa']) {
    const passkey = new Passkey(kind);
    const challenge = randomBytes(32);
    for (const lies of [{}, { flags: BE | BS }, { flags: BE }, { text: (text) => `\u{feff}${text}` }, { clientData: { later: 1 } }]) {
      const created = { challenge, response: passkey.create(challenge, lies) };
      assert.deepEqual(await compare('create', created), { refusal: null, accepted: true });
      const got = { challenge, response: passkey.get(challenge, lies), publicKey: passkey.publicKey };
      assert.deepEqual(await compare('get', got), { refusal: null, accepted: true });
    }
  }
});

test('both reject each lie', async () => {
  const lies = {
    type: { clientData: { type: 'payment.get' } },
    origin: { clientData: { origin: 'https://evil.test' } },
    'origin with a port': { clientData: { origin: `${ORIGIN}:8443` } },
    'another challenge': { clientData: { challenge: b64(randomBytes(32)) } },
    'no challenge': { clientData: { challenge: undefined } },
    'a frame': { clientData: { crossOrigin: true } },
    'a page above': { clientData: { topOrigin: 'https://evil.test' } },
    'another relying party': { rpId: 'evil.test' },
    'user not present': { flags: UP },
    'user not verified': { flags: UV },
    'backed up though it cannot be': { flags: BS },
    'something behind': { behind: Buffer.from([0]) },
    'extensions that are not there': { flags: ED },
    'extensions': { flags: ED, behind: cbor(new Map([['prf', new Map([['enabled', 1]])]])) },
    'no JSON': { text: () => '{' },
    'two members': { text: (text) => text.replace('{', '{"origin":"https://evil.test",') },
  };
  const created = {
    ES384: { key: cbor(new Map([[1, 2], [3, -35], [-1, 2], [-2, randomBytes(48)], [-3, randomBytes(48)]])) },
    EdDSA: { key: cbor(new Map([[1, 1], [3, -8], [-1, 6], [-2, randomBytes(32)]])) },
    ES256K: { key: cbor(new Map([[1, 2], [3, -47], [-1, 8], [-2, randomBytes(32)], [-3, randomBytes(32)]])) },
    'no key': { key: cbor(new Map()) },
    'another id': { id: randomBytes(16) },
    'a statement of no attestation': { statement: new Map([['a', 1]]) },
    'bytes behind the attestation': { after: Buffer.from([0]) },
  };
  for (const [name, lie] of Object.entries({ ...lies, ...created })) {
    const passkey = new Passkey('ec');
    const challenge = randomBytes(32);
    const { refusal } = await compare(name, { challenge, response: passkey.create(challenge, lie) });
    assert.equal(refusal === null, name === 'extensions', name);
    if (name in created) continue;
    const asked = { challenge, response: passkey.get(challenge, lie), publicKey: passkey.publicKey };
    assert.equal((await compare(name, asked)).refusal === null, name === 'extensions', name);
  }
  const [passkey, other] = [new Passkey('ec'), new Passkey('ec')];
  const challenge = randomBytes(32);
  const asked = { challenge, response: passkey.get(challenge), publicKey: other.publicKey };
  assert.deepEqual(await compare('another key', asked), { refusal: 'signature', accepted: false });
});

test('both agree on the specification\'s vectors', async () => {
  for (const { name, public_key, registration, assertion } of vectors.cases) {
    // The library rejects untrusted certificates, which the server ignores.
    const { response, challenge } = registration;
    if (Buffer.from(challenge, 'hex').length !== 32) continue;
    const asked = { origin: vectors.origin, challenge: Buffer.from(challenge, 'hex'), response };
    assert.equal((await ours(asked)).refusal, registration.refusal, name);
    if (registration.refusal) assert.ok(!(await theirs(asked)) || STRICTER.includes(registration.refusal), name);
    if (!assertion) continue;
    const publicKey = createPublicKey({ key: Buffer.from(public_key, 'hex'), format: 'der', type: 'spki' });
    const login = { ...asked, challenge: Buffer.from(assertion.challenge, 'hex'), response: assertion.response, publicKey };
    assert.equal((await compare(name, login)).refusal, assertion.refusal, name);
  }
});

test('both agree on mutated answers', async () => {
  const passkey = new Passkey('ec');
  const challenge = randomBytes(32);
  const answers = [passkey.create(challenge), passkey.get(challenge)];
  const count = { accepted: 0, refused: 0, stricter: 0 };
  for (let at = 0; at < MUTATIONS; at += 1) {
    const response = structuredClone(answers[at % 2]);
    const parts = Object.keys(response.response).filter((part) => part !== 'userHandle');
    const part = parts[randomInt(parts.length)];
    const bytes = [...Buffer.from(response.response[part], 'base64url')];
    for (let changes = randomInt(1, 4); changes > 0; changes -= 1) {
      const from = randomInt(bytes.length);
      [() => (bytes[from] ^= 1 << randomInt(8)), () => bytes.splice(from, 1), () => bytes.splice(from, 0, randomInt(256))][randomInt(3)]();
    }
    response.response[part] = b64(bytes);
    const asked = { challenge, response, publicKey: at % 2 ? passkey.publicKey : undefined };
    const { refusal, accepted } = await compare(`mutation ${at}`, asked, part);
    count[refusal === null ? 'accepted' : accepted ? 'stricter' : 'refused'] += 1;
  }
  console.log(`of ${MUTATIONS} changed answers ${JSON.stringify(count)}`);
  assert.ok(count.refused > MUTATIONS / 2);
});
