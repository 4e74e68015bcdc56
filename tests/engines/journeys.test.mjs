// The journeys of users in Firefox and WebKit. Chromium is tested by tests/pages.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { Application } from '../pages/applications.mjs';
import { importMachines } from '../pages/atlas.mjs';
import { Server } from '../pages/server.mjs';
import { Site } from '../pages/site.mjs';
import { Wallet } from '../pages/wallets.mjs';
import { Firefox, WebKit } from './engines.mjs';

/** Widths of a phone, or the smallest that the engine's window permits: Firefox 500 px, WebKitGTK 447 px. */
const PHONE = { width: 390, height: 844 };
const TOWN = '#12.0/30.27000/-97.74500';

for (const Engine of [Firefox, WebKit]) {
  describe(Engine.name, () => {
    let server;
    let site;
    let browser;
    /** Errors in the console that belong to the test. */
    let expected;

    before(async () => {
      server = await Server.start({ RATE_LIMIT_REPORTS: 'off' });
      browser = await Engine.launch();
      site = await Site.open(server);
    });
    after(async () => {
      site?.close();
      await Promise.all([browser?.close(), server?.close()]);
    });
    beforeEach(async () => {
      expected = [];
      await browser.send('WebDriver:SetWindowRect', { width: 1100, height: 800 });
      await browser.open(`${server.origin}/health`);
      await browser.send('WebDriver:DeleteAllCookies');
    });
    afterEach(async () => {
      const unexpected = (await browser.errors()).filter((error) => !expected.some((pattern) => pattern.test(error)));
      assert.deepEqual(unexpected, []);
    });

    /** Reads the page's code for a wallet. */
    async function readCode() {
      const code = await browser.attribute('a[rel="signpost-code"][href]', 'href');
      return { code, number: await browser.text('output#number') };
    }

    /** Opens the login page and answers its code with a wallet. Returns the site's message. */
    async function logIn(wallet, mode = 'login') {
      await browser.open(`${site.origin}/${mode}`);
      await browser.state('waiting');
      const { code, number } = await readCode();
      assert.equal((await wallet.scan(code, number)).status, 200);
      return browser.attribute('main[data-site]', 'data-site');
    }

    test('a search leads to an ATM and a report', async () => {
      await browser.open(`${server.origin}/`);
      await browser.type('input[type=search]', 'Miami, FL');
      await browser.click('form button', /Search/);
      await browser.find('h1', /near Miami, Florida/);
      await browser.assertFits();
      await browser.click('.machine a');
      await browser.until('an ATM', async () => /\/atm\/\d+$/.test(await browser.url()));
      await browser.click('#right input[value=gone]');
      await browser.click('#right button');
      await browser.until('the form', async () => /\/report\?/.test(await browser.url()));
      await browser.click('main form button', /Send/);
      await browser.find('h1', /Thank you/);
    });

    test('the map shows a town', async () => {
      const map = await Server.start();
      try {
        await importMachines(map);
        await map.kill();
        await map.start();
        await browser.open(`${map.origin}/map${TOWN}`);
        await browser.find('canvas[data-state="drawn"]');
        await browser.find('h2', /12 (?:machines|ATMs) in sight/);
        await browser.assertFits();
      } finally {
        await map.close();
      }
    });

    test('a wallet registers and logs in', async () => {
      const wallet = await Wallet.make(server);
      const user = await logIn(wallet, 'register');
      assert.match(user, /^in usr_/);
      assert.equal(await logIn(wallet), user);
    });

    test('a Lightning wallet registers and logs in', async () => {
      const wallet = await Wallet.make(server);
      const users = [];
      for (const mode of ['register', 'login']) {
        await browser.open(`${site.origin}/${mode}`);
        await browser.state('waiting');
        await wallet.lnurl(await browser.attribute('a[rel="signpost-lightning"]', 'href'));
        users.push(await browser.attribute('main[data-site]', 'data-site'));
      }
      assert.match(users[0], /^in usr_/);
      assert.equal(users[1], users[0]);
    });

    test('the login page fits a phone', async () => {
      await browser.send('WebDriver:SetWindowRect', PHONE);
      await browser.open(`${site.origin}/login`);
      await browser.state('waiting');
      await browser.assertFits();
    });

    test('a user names a key and signs out', async () => {
      await logIn(await Wallet.make(server), 'register');
      await browser.open(`${server.origin}/account/${site.domain.id}`);
      await browser.state('account');
      await browser.click('ul.keys summary');
      await browser.type('ul.keys input[name=name]', 'My phone');
      await browser.click('ul.keys button', /Save/);
      await browser.find('ul.keys > li', /My phone/);
      await browser.click('form#sign-out-everywhere button');
      await browser.state('signed-out');
    });

    test('the browser wallet answers a login', async () => {
      await browser.open(`${site.origin}/register`);
      await browser.state('waiting');
      await browser.click('#use-wallet');
      await browser.click('button', /Make a wallet/);
      await browser.state('confirm');
      await browser.click('#agree');
      assert.match(await browser.attribute('main[data-site]', 'data-site'), /^in usr_/);
      await browser.open(`${server.origin}/wallet`);
      await saveWords(browser);
    });

    test('an application receives a code after consent', async () => {
      const application = await Application.open(server, site.domain.id, '--name', 'Wiki');
      try {
        const wallet = await Wallet.make(server);
        await logIn(wallet, 'register');
        await browser.open(application.authorize());
        await browser.state('consent');
        await browser.click('form#consent #allow');
        await browser.find('main[data-application="/cb"]');
        assert.equal((await application.redeem()).status, 200);
      } finally {
        application.close();
      }
    });

    test('an operator sets up the console', async () => {
      const { link } = await server.command('console', 'link');
      await browser.open(link);
      await browser.state('setup-login');
      await browser.click('form#login button');
      await browser.state('waiting');
      await browser.click('#switch-mode');
      await browser.find('h1', /Create your account/);
      const { code, number } = await readCode();
      const wallet = await Wallet.make(server);
      assert.equal((await wallet.scan(code, number)).status, 200);
      await browser.state('confirm');
      await browser.click('form#confirm button');
      await browser.find('h1', /^Today$/);
      await browser.assertFits();
    });

    if (Engine === Firefox) {
      test('near me searches around the position', async () => {
        await browser.open(`${server.origin}/`);
        await browser.click('#near-me');
        await browser.until('a search', async () => /[?&]lat=30\.267&lon=-97\.743/.test(await browser.url()));
        await browser.find('.machine');
        await browser.assertFits();
      });

      test('a passkey registers and logs in', async () => {
        await browser.addAuthenticator();
        const users = [];
        for (const mode of ['register', 'login']) {
          await browser.open(`${site.origin}/${mode}`);
          await browser.state('waiting');
          await browser.click('#use-passkey');
          users.push(await browser.attribute('main[data-site]', 'data-site'));
        }
        assert.match(users[0], /^in usr_/);
        assert.equal(users[1], users[0]);
      });
    } else {
      test('without passkeys the login page offers none', async () => {
        const [passkeys, share] = await browser.run('return [typeof PublicKeyCredential, typeof navigator.share]');
        assert.deepEqual([passkeys, share], ['undefined', 'undefined'], 'WebKitGTK has them now: test them');
        await browser.open(`${site.origin}/login`);
        await browser.state('waiting');
        assert.equal(await browser.run('return document.querySelector("#use-passkey")?.checkVisibility() ?? false'), false);
      });
    }
  });
}

/** Saves the words of the browser wallet, and repeats some of them. */
async function saveWords(browser) {
  await browser.click('[data-screen="home"] [data-save]');
  await browser.state('words');
  const words = await browser.run('return [...document.querySelectorAll("#words li")].map((word) => word.innerText.trim())');
  await browser.click('button', /I have written them down/);
  await browser.state('check');
  const positions = await browser.run('return [...document.querySelectorAll("#check-form .field [data-place=position]:first-child")].map((place) => Number(place.innerText))');
  assert.ok(positions.length > 0);
  for (const [index, position] of positions.entries()) {
    await browser.type(`#check-form .field:nth-of-type(${index + 1}) input`, words[position - 1]);
  }
  await browser.click('button', /Finish/);
  await browser.state('home');
  assert.equal(await browser.run('return document.querySelector("[data-screen=home] [data-unsaved]").hidden'), true);
}
