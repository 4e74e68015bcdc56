// All states of the login page, for layout checks and screenshots.
import { Authenticator } from './authenticator.mjs';
import { back, codeOf, state } from './browser.mjs';
import { CrookedWallet } from './wallets.mjs';

const otherThan = (number) => String((Number(number) + 1) % 100).padStart(2, '0');

/** Answers the code of a page, with the faults in `how`. */
async function answer(page, how = {}) {
  const { code, number } = await codeOf(page);
  return new CrookedWallet().answer(code, how.isOtherNumber ? otherThan(number) : number, how);
}

/** Prevents navigation to the site. */
const stay = (page, site) => page.route(`${site.origin}/return**`, (route) => route.fulfill({ status: 204 }));

async function refused(stage, site, options, how) {
  const { page } = await stage.atLogin(site, options);
  await answer(page, how);
  await state(page, 'refused');
  return page;
}

/** Opens a tab with an authenticator. */
async function withDevice(stage, options) {
  const visitor = await stage.visitor(options);
  const page = await visitor.context.newPage();
  return { page, device: await Authenticator.plug(page) };
}

/** The offer of a passkey, after a wallet created an account or logged in. */
async function offered(stage, options, mode) {
  const site = await stage.site();
  const wallet = mode === 'login' ? await stage.wallet('offered', site) : new CrookedWallet();
  const { page } = await withDevice(stage, options);
  await stay(page, site);
  await page.goto(`${site.origin}/${mode}`);
  const { code, number } = await codeOf(page);
  await (wallet.scan?.(code, number) ?? wallet.answer(code, number));
  await state(page, 'done');
  await page.locator('#passkey-offer').waitFor({ state: 'visible' });
  return page;
}

/** The page to add a key, after a registration with a passkey. */
async function atLink(stage, options) {
  const site = await stage.site();
  const { page, device } = await withDevice(stage, options);
  await page.goto(`${site.origin}/register`);
  await state(page, 'waiting');
  await device.touch(true);
  await page.locator('#use-passkey').click();
  const who = await back(page);
  await page.goto(`${site.origin}/link?user=${who.slice(3)}`);
  await state(page, 'waiting');
  return page;
}

/** Name → a page in that state. `options` are those of a visitor. */
export const STATES = {
  waiting: async (stage, options) => (await stage.atLogin(await stage.site(), options)).page,

  register: async (stage, options) => (await stage.atLogin(await stage.site(), { ...options, mode: 'register' })).page,

  lightning: async (stage, options) => {
    const { page } = await stage.atLogin(await stage.site(), options);
    await page.locator('label', { hasText: 'Lightning' }).click();
    return page;
  },

  camera: async (stage, options) => {
    const { page } = await stage.atLogin(await stage.site(), options);
    await page.locator('label', { hasText: 'Camera' }).click();
    return page;
  },

  'scan alone': async (stage, options) => {
    const site = await stage.site('scan alone', { settings: { methods: ['scan'] } });
    return (await stage.atLogin(site, options)).page;
  },

  'long names': async (stage, options) => {
    const site = await stage.site('long names', {
      domain: 'a-very-long-name-of-a-label-that-is-one-word.wirtschaftspruefungsgesellschaft.example.com',
      settings: { display_name: 'Wirtschaftsprüfungsgesellschaftszusammenschluss ׳שלום׳ <b>&' },
      session: { requester: { user_agent: 'A'.repeat(250) }, metadata: { return_url: '/return' } },
    });
    return (await stage.atLogin(site, options)).page;
  },

  create: async (stage, options) => {
    const { page } = await stage.atLogin(await stage.site(), options);
    await answer(page);
    await state(page, 'create');
    return page;
  },

  'refused number': async (stage, options) => refused(stage, await stage.site(), options, { isOtherNumber: true }),
  'refused host': async (stage, options) => refused(stage, await stage.site(), options, { through: 'login.evil.test' }),
  'refused clock': async (stage, options) => refused(stage, await stage.site(), options, { secondsOff: 245 }),

  'refused closed': async (stage, options) => {
    return refused(stage, await stage.site('closed', { settings: { registration: 'closed' } }), options);
  },

  'tried too often': async (stage, options) => {
    const { page } = await stage.atLogin(await stage.site(), options);
    for (let tries = 0; tries < 3; tries += 1) await answer(page, { isOtherNumber: true });
    await state(page, 'refused');
    await page.locator('a[rel="signpost-code"]').waitFor({ state: 'detached' });
    return page;
  },

  'passkey alone': async (stage, options) => {
    const site = await stage.site('passkey alone', { settings: { methods: ['passkey'] } });
    return (await stage.atLogin(site, options)).page;
  },

  'passkey of another': async (stage, options) => {
    const site = await stage.site();
    const gone = await stage.site('gone', { domain: 'gone.test', binds: false });
    const { page, device } = await withDevice(stage, { ...options, expected: [/status of 4/] });
    await page.goto(`${site.origin}/register`);
    await state(page, 'waiting');
    await device.touch(true);
    await page.locator('#use-passkey').click();
    await back(page);
    // A device with automatic presence would answer the field at once, before the page shows that it waits.
    await page.addInitScript(() => (PublicKeyCredential.isConditionalMediationAvailable = async () => false));
    await page.goto((await gone.start()).page_url);
    await state(page, 'waiting');
    await page.locator('#use-passkey').click();
    await state(page, 'refused');
    return page;
  },

  'passkey offer': async (stage, options) => offered(stage, options, 'login'),
  'one key': async (stage, options) => offered(stage, options, 'register'),
  'link waiting': atLink,

  link: async (stage, options) => {
    const page = await atLink(stage, options);
    await answer(page);
    await state(page, 'link');
    return page;
  },

  done: async (stage, options) => {
    const site = await stage.site();
    const { page } = await stage.atLogin(site, { ...options, mode: 'register' });
    await stay(page, site);
    await answer(page);
    await state(page, 'done');
    return page;
  },

  'logged in': async (stage, options) => {
    const { visitor, page, session } = await stage.atLogin(await stage.site(), { ...options, mode: 'register' });
    await answer(page);
    await page.locator('main[data-site]').waitFor();
    const again = await visitor.open(session.page_url);
    await state(again, 'done');
    return again;
  },

  cancelled: async (stage, options) => {
    const site = await stage.site();
    const { page } = await stage.atLogin(site, options);
    await stay(page, site);
    await page.locator('form#cancel button').click();
    await state(page, 'cancelled');
    return page;
  },

  'cancelled by the site': async (stage, options) => {
    const site = await stage.site();
    const { page, session } = await stage.atLogin(site, options);
    await site.server.call('DELETE', `/sessions/${session.id}`, undefined, site.who);
    await state(page, 'cancelled');
    return page;
  },

  claim: async (stage, options) => {
    const site = await stage.site();
    const wallet = await stage.wallet('claims', site);
    const { users } = await site.users();
    const { id } = users.find((user) => user.public_key === wallet.publicKey);
    const { page_url } = await stage.server.command('users', 'credentials', 'link', id, '--domain', site.domain.id);
    const visitor = await stage.visitor(options);
    // Without its fragment, like a link preview.
    return visitor.open(page_url.split('#')[0]);
  },

  other: async (stage, options) => {
    const { session } = await stage.atLogin(await stage.site());
    const stranger = await stage.visitor({ ...options, expected: [/status of 403/] });
    return stranger.open(session.page_url);
  },

  away: async (stage, options) => {
    const site = await stage.site();
    const visitor = await stage.visitor({ ...options, expected: [/ERR_|status of 503/] });
    await visitor.lose('events');
    const page = await visitor.open(`${site.origin}/login`);
    await state(page, 'waiting');
    await visitor.lose('state');
    await state(page, 'away');
    return page;
  },

  'no such login': async (stage, options) => {
    const visitor = await stage.visitor({ ...options, expected: [/status of 404/] });
    return visitor.open(`${stage.server.origin}/sandbox/login/sess_000000000000000000000000000000000000`);
  },
};

/** Restarts the server with a clock that is ahead, while pages are open. */
export async function pass(stage, minutes) {
  await stage.server.kill();
  await stage.server.start(minutes);
}

/** The states at another time, which need a separate stage. */
export const LATE_STATES = {
  expired: async (stage, options) => {
    const { page } = await stage.atLogin(await stage.site(), { ...options, expected: [/ERR_|status of 503/] });
    await pass(stage, 16);
    await state(page, 'expired');
    return page;
  },
};
