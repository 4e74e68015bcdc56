// The browser wallet: its creation, its words, its restoration, and all ways to open a code.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Visitor, back, codeOf, launch, state } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();
const address = () => `${stage.server.origin}/wallet`;

/** Creates a wallet on its start page, and saves its words; returns the 24 words. */
async function make(page) {
  await page.getByRole('button', { name: 'Make a wallet' }).click();
  const main = await state(page, 'home');
  await main.getByRole('button', { name: 'Save the words now' }).click();
  return save(page);
}

/** Repeats the words on the screen; returns them. */
async function save(page) {
  await state(page, 'words');
  const words = await page.locator('#words li').allInnerTexts();
  assert.equal(words.length, 24);
  await page.getByRole('button', { name: 'I have written them down' }).click();
  await state(page, 'check');
  for (const field of await page.locator('#check-form .field').all()) {
    const position = Number(await field.locator('[data-place="position"]').first().innerText());
    await field.locator('input').fill(words[position - 1]);
  }
  await page.getByRole('button', { name: 'Finish' }).click();
  return words;
}

/** A user with a browser wallet: `{visitor, page, words}`. */
async function owner(options) {
  const visitor = await stage.visitor({ expected: [/status of 40[46]/], ...options });
  const page = await visitor.open(address());
  await state(page, 'start');
  const words = await make(page);
  await state(page, 'home');
  return { visitor, page, words };
}

/** Pastes the link of a code, and confirms it. */
async function paste(page, { code, number }) {
  await page.getByLabel('Or paste the link of a code').fill(code);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await state(page, 'confirm');
  if (number) await page.getByLabel(/^Number on the page/).fill(number);
  await page.locator('#agree').click();
}

test('a new wallet creates an account with a pasted code', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site, { mode: 'register' });
  await paste(page, await codeOf(login.page));
  const done = await state(page, 'outcome');
  assert.match(await done.innerText(), /You have a key at localhost/);
  assert.match(await back(login.page), /^in usr_/);
  const { method, user } = await site.read(login.session.id);
  assert.equal(method, 'browser');
  await page.getByRole('button', { name: 'To the wallet' }).click();
  await page.getByRole('button', { name: 'Keys' }).click();
  const keys = await state(page, 'keys');
  assert.match(await keys.innerText(), new RegExp(`localhost\\s+Ends in ${user.public_key.slice(-8)}`));
});

test('the login page\'s browser needs no number, and returns', async () => {
  const site = await stage.site();
  const { visitor } = await owner();
  const page = await visitor.open(`${site.origin}/register`);
  await state(page, 'waiting');
  await page.getByRole('link', { name: "Use this browser's wallet" }).click();
  await state(page, 'confirm');
  await page.locator('main', { hasText: /Create your account at\s*localhost/ }).waitFor();
  assert.ok(!(await page.locator('#number').isVisible()));
  await checkLooks(page);
  await page.locator('#agree').click();
  const who = await back(page);
  assert.match(who, /^in usr_/);
  assert.equal((await site.read(site.last.id)).method, 'browser');
  await page.goto(`${site.origin}/login`);
  await page.locator('#use-wallet').click();
  await state(page, 'confirm');
  assert.match(await page.locator('#key-known').innerText(), /used here since/);
  await page.locator('#agree').click();
  assert.equal(await back(page), who);
});

test('another browser requires the number, and reports a wrong one', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(login.page);
  const other = String((Number(number) - 9) % 90 + 10);
  await paste(page, { code, number: '7' });
  await page.locator('#number-error', { hasText: 'Type two digits' }).waitFor();
  await page.locator('#number').fill(other);
  await page.locator('#agree').click();
  await page.locator('#number-error', { hasText: 'That number is wrong' }).waitFor();
  await checkLooks(page);
  await page.locator('#number').fill(number);
  await page.locator('#agree').click();
  await state(page, 'outcome');
  assert.match(await back(login.page), /^in usr_/);
});

test('a new wallet logs in before its words are saved', async () => {
  const site = await stage.site();
  const visitor = await stage.visitor();
  const page = await visitor.open(`${site.origin}/register`);
  await state(page, 'waiting');
  await page.locator('#use-wallet').click();
  await state(page, 'start');
  await page.getByRole('button', { name: 'Make a wallet' }).click();
  await state(page, 'confirm');
  await page.locator('#agree').click();
  assert.match(await back(page), /^in usr_/);
  const wallet = await visitor.open(address());
  const notice = (await state(wallet, 'home')).locator('[data-screen="home"] [data-unsaved]');
  await notice.getByText('Your 24 words are not saved yet').waitFor();
  await checkLooks(wallet);
  await notice.getByRole('button').click();
  await state(wallet, 'words');
  const first = await wallet.locator('#words li').allInnerTexts();
  await wallet.getByRole('button', { name: 'Later' }).click();
  await state(wallet, 'home');
  await wallet.reload();
  await state(wallet, 'home');
  await notice.getByRole('button').click();
  assert.deepEqual(await save(wallet), first);
  await state(wallet, 'home');
  assert.ok(!(await notice.isVisible()));
  await wallet.reload();
  await state(wallet, 'home');
  assert.ok(!(await notice.isVisible()));
});

test('after the first login, a live code asks to save the words', async () => {
  const site = await stage.site();
  const visitor = await stage.visitor();
  const page = await visitor.open(address());
  await state(page, 'start');
  await page.getByRole('button', { name: 'Make a wallet' }).click();
  await state(page, 'home');
  const login = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(login.page);
  await paste(page, { code, number });
  await state(page, 'outcome');
  await page.getByRole('button', { name: 'To the wallet' }).click();
  await page.getByLabel('Or paste the link of a code').fill(code.replace('%2Fsandbox%2F', '%2F').replace('/sandbox/', '/'));
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await state(page, 'words');
  // The second time in this tab it does not ask.
  await page.getByRole('button', { name: 'Later' }).click();
  assert.match(await (await state(page, 'outcome')).innerText(), /This wallet is for trying out/);
});

test('a restored wallet logs in as its user', async () => {
  const site = await stage.site();
  const first = await owner();
  const made = await stage.atLogin(site, { mode: 'register' });
  await paste(first.page, await codeOf(made.page));
  const who = await back(made.page);
  const visitor = await stage.visitor();
  const page = await visitor.open(address());
  await state(page, 'start');
  await page.getByRole('button', { name: 'I have 24 words already' }).click();
  const field = page.getByLabel('Your 24 words');
  const error = page.locator('#restored-error');
  const bring = page.getByRole('button', { name: 'Bring it back' });
  for (const [typed, message] of [
    [first.words.slice(0, 23).join(' '), /You typed 23 words/],
    [first.words.with(6, 'abandn').join(' '), /Word 7, “abandn”, is not in the list\. Is it “abandon”\?/],
    [first.words.with(23, 'qqqq').join(' '), /Word 24, “qqqq”, is not in the list\./],
    [Array(24).fill('abandon').join(' '), /together they are no wallet/],
  ]) {
    await field.fill(typed);
    await bring.click();
    await error.filter({ hasText: message }).waitFor();
  }
  await checkLooks(page);
  await field.fill(first.words.map((word, at) => `${at + 1}. ${word.toUpperCase()}`).join('\n'));
  await bring.click();
  await state(page, 'home');
  const login = await stage.atLogin(site);
  await paste(page, await codeOf(login.page));
  assert.equal(await back(login.page), who);
});

test('a wallet requires its words to be repeated', async () => {
  const visitor = await stage.visitor();
  const page = await visitor.open(address());
  await page.getByRole('button', { name: 'Make a wallet' }).click();
  const home = await state(page, 'home');
  await home.getByRole('button', { name: 'Save the words now' }).click();
  await state(page, 'words');
  await checkLooks(page);
  const words = await page.locator('#words li').allInnerTexts();
  await page.getByRole('button', { name: 'I have written them down' }).click();
  await page.getByRole('button', { name: 'Finish' }).click();
  assert.match(await page.locator('#word-0-error').innerText(), /^Word \d+ is another one/);
  await checkLooks(page);
  await page.reload();
  await state(page, 'home');
  const { wallets } = JSON.parse(readFileSync(new URL('../../vectors/browser_wallet.json', import.meta.url), 'utf8'));
  assert.notEqual(words.join(' '), wallets[0].words);
});

test('words are removed from the page', async () => {
  const left = (page) => page.evaluate(() => {
    const fields = [...document.querySelectorAll('#restored, #check-form input')].map((field) => field.value);
    return [...fields, document.getElementById('words').textContent].join('');
  });
  const { page, words } = await owner();
  assert.equal(await left(page), '');
  const other = await (await stage.visitor()).open(address());
  await state(other, 'start');
  await other.getByRole('button', { name: 'I have 24 words already' }).click();
  await other.getByLabel('Your 24 words').fill(words.slice(0, 23).join(' '));
  await other.getByRole('button', { name: 'Bring it back' }).click();
  await other.locator('#restored-error').filter({ hasText: 'You typed 23 words' }).waitFor();
  await other.locator('[data-screen="restore"] [data-home]').click();
  await state(other, 'start');
  assert.equal(await left(other), '');
});

test('keys and words match the vectors', async () => {
  const vectors = JSON.parse(readFileSync(new URL('../../vectors/browser_wallet.json', import.meta.url), 'utf8'));
  const visitor = await stage.visitor();
  const page = await visitor.open(address());
  await state(page, 'start');
  const found = await page.evaluate(async ({ wallets, wrong_words }) => {
    const folder = document.querySelector('script[type=module]').src.replace('wallet.js', '');
    const [words, keys] = await Promise.all(['words.js', 'keys.js'].map((name) => import(folder + name)));
    const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    const derived = [];
    for (const { entropy, words: text, sites } of wallets) {
      const drawn = await words.toWords(Uint8Array.from(entropy.match(/../g), (byte) => parseInt(byte, 16)));
      const seed = await words.toSeed(await words.readWords(text));
      const [seedHex, root] = [hex(seed), await keys.toRoot(seed)];
      const made = [];
      for (const { domain, signed } of sites) {
        const secret = await keys.toSecret(root, domain);
        made.push({ domain, public_key: keys.publicKeyOf(secret), signed, signature: await keys.sign(signed, secret) });
      }
      derived.push({ entropy, words: drawn.join(' '), seed: seedHex, root: hex(root), sites: made });
    }
    const wrong = [];
    for (const { words: text } of wrong_words) {
      const error = await words.readWords(text).catch((caught) => caught);
      wrong.push(JSON.parse(JSON.stringify({ words: text, reason: error.reason, ...error.more })));
    }
    return { derived, wrong };
  }, vectors);
  assert.deepEqual(found.derived, vectors.wallets);
  assert.deepEqual(found.wrong, vectors.wrong_words);
});

test('a deleted wallet is reported', async () => {
  const { page } = await owner();
  await page.evaluate(() => new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase('signpost-wallet');
    request.onsuccess = resolve;
    request.onerror = request.onblocked = reject;
  }));
  await page.reload();
  const main = await state(page, 'start');
  assert.match(await main.innerText(), /The wallet that was here is gone/);
  await checkLooks(page);
});

test('foreign and expired codes are not signed', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site);
  const { code } = await codeOf(login.page);
  const open = async (text) => {
    await page.goto('about:blank');
    await page.goto(`${address()}#${text}`);
    await state(page, 'outcome');
    return page.locator('#outcome').innerText();
  };
  assert.match(await open(code.replace('webhook=http://localhost', 'webhook=http://evil.test')), /for another wallet[^]*evil\.test:\d+[^]*signpost wallet scan/);
  await checkLooks(page);
  assert.match(await open(code.replace('/sandbox/v1/', '/v1/')), /for trying out/);
  assert.match(await open(`${code}&exp=1`), /no login code/);
  assert.match(await open(code.replace(/exp=\d+/, 'exp=1700000000')), /no longer good/);
  assert.match(await open(code.replace(/:[A-Za-z0-9_-]{22}&/, ':AAAAAAAAAAAAAAAAAAAAAA&')), /no longer good/);
});

test('a clock error is reported with its size', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site);
  const { code } = await codeOf(login.page);
  await page.clock.install({ time: Date.now() + 250_000 });
  await page.goto('about:blank');
  await page.goto(`${address()}#${code}`);
  await state(page, 'outcome');
  assert.match(await page.locator('#outcome').innerText(), /The clock of this device is 4 minutes ahead/);
});

/** Writes a film of a single picture for Chromium's camera (YUV4MPEG2): the code of an element. */
async function film(code, folder) {
  const [width, height] = [640, 480];
  const light = await code.evaluate(async (svg, { width, height }) => {
    const picture = new Image();
    picture.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
    await picture.decode();
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, width, height);
    context.drawImage(picture, 140, 60, 360, 360);
    return Array.from(context.getImageData(0, 0, width, height).data.filter((_, at) => at % 4 === 0));
  }, { width, height });
  const file = join(folder, 'camera.y4m');
  const frame = Buffer.concat([Buffer.from('FRAME\n'), Buffer.from(light), Buffer.alloc(width * height / 2, 128)]);
  writeFileSync(file, Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`), frame, frame]));
  return file;
}

test('the camera reads a code', async (t) => {
  const site = await stage.site();
  const login = await stage.atLogin(site, { mode: 'register' });
  await login.page.locator('label', { hasText: 'Camera' }).click();
  const folder = mkdtempSync(join(tmpdir(), 'signpost-camera-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = await film(login.page.locator('#wallet-code svg'), folder);
  const browser = await launch(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${file}`]);
  t.after(() => browser.close());
  const visitor = await Visitor.arrive(browser, [stage.server.origin]);
  const page = await visitor.open(address());
  await make(page);
  await state(page, 'home');
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.getByRole('button', { name: 'Scan a code' }).click();
  await state(page, 'confirm');
  assert.ok(asked.some((path) => path.endsWith('/qr/decode.js')), 'the decoder is loaded for a scan');
  await page.locator('#number').fill((await codeOf(login.page)).number);
  await page.locator('#agree').click();
  await state(page, 'outcome');
  assert.match(await back(login.page), /^in usr_/);
  await visitor.leave();
});

test('a missing camera is explained', async () => {
  const { page } = await owner();
  await page.getByRole('button', { name: 'Scan a code' }).click();
  const main = await state(page, 'outcome');
  assert.match(await main.innerText(), /The camera cannot be used/);
});

test('the wallet opens offline, and reports the missing server', async (t) => {
  const own = await Stage.own(t);
  const site = await own.site();
  const visitor = await own.visitor({ expected: [/ERR_/] });
  const page = await visitor.open(`${own.server.origin}/wallet`);
  await make(page);
  await state(page, 'home');
  await page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => active.state));
  const login = await own.atLogin(site, { expected: [/ERR_/] });
  const { code } = await codeOf(login.page);
  await login.page.close();
  await own.server.kill();
  await page.reload();
  await state(page, 'home');
  await page.goto(`${own.server.origin}/wallet?lang=es`);
  await page.getByRole('heading', { name: 'Tu billetera' }).waitFor();
  await page.goto(`${own.server.origin}/wallet`);
  await state(page, 'home');
  await page.getByLabel('Or paste the link of a code').fill(code);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  const main = await state(page, 'outcome');
  assert.match(await main.innerText(), /The server does not answer/);
  await own.server.start();
  await page.getByRole('button', { name: 'Try again' }).click();
  await state(page, 'confirm');
});

test('a wallet on a separate host requires the number', async (t) => {
  const own = await Stage.own(t);
  const site = await own.site();
  await own.server.kill();
  const wallet = `http://wallet.localhost:${own.server.port}`;
  own.server.settings = { ...own.server.settings, WALLET: wallet };
  await own.server.start();
  const visitor = await own.visitor();
  visitor.origins.push(wallet);
  const first = await visitor.open(`${wallet}/`);
  assert.equal(first.url(), `${wallet}/wallet`);
  await make(first);
  await state(first, 'home');
  const page = await visitor.open(`${site.origin}/register`);
  await state(page, 'waiting');
  const { number } = await codeOf(page);
  await page.locator('#use-wallet').click();
  await state(page, 'confirm');
  assert.ok(page.url().startsWith(wallet), page.url());
  await page.locator('#number').fill(number);
  await page.locator('#agree').click();
  await state(page, 'outcome');
  await page.getByRole('button', { name: 'Back to the login page' }).click();
  assert.match(await back(page), /^in usr_/);
  assert.equal((await site.read(site.last.id)).method, 'browser');
});

test('the wallet works by keyboard', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site);
  const { code, number } = await codeOf(login.page);
  const reach = async (selector) => {
    for (let steps = 0; steps < 30; steps += 1) {
      if (await page.locator(selector).evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not reach ${selector}`);
  };
  await reach('#pasted');
  await page.keyboard.insertText(code);
  await page.keyboard.press('Enter');
  await state(page, 'confirm');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main', 'Enter confirms nothing');
  await reach('#number');
  await page.keyboard.insertText(number);
  await page.keyboard.press('Enter');
  const main = await state(page, 'outcome');
  assert.match(await main.innerText(), /No account at localhost has this key yet/);
  await state(login.page, 'create');
});

test('a wallet is erased, and a denial signs nothing', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site);
  await page.goto('about:blank');
  await page.goto(`${address()}#${(await codeOf(login.page)).code}`);
  await state(page, 'confirm');
  await page.getByRole('button', { name: 'No, stop' }).click();
  assert.match(await (await state(page, 'outcome')).innerText(), /Nothing was signed/);
  await page.getByRole('button', { name: 'To the wallet' }).click();
  await state(page, 'home');
  await checkLooks(page);
  await page.getByRole('button', { name: 'Settings' }).click();
  await state(page, 'settings');
  await checkLooks(page);
  await page.getByRole('button', { name: 'Erase this wallet' }).click();
  await state(page, 'erase');
  await page.getByRole('button', { name: 'Erase it' }).click();
  await state(page, 'start');
  assert.ok(!(await page.locator('#lost').isVisible()));
});
