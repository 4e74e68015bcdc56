// Users on the account pages, and all states of these pages: for layout checks and screenshots.
import { back, codeOf, state } from './browser.mjs';
import { pass } from './states.mjs';

/** A browser after a login at the site with this wallet. */
export async function signIn(stage, site, wallet, options) {
  const { visitor, page } = await stage.atLogin(site, options);
  const { code, number } = await codeOf(page);
  await wallet.scan(code, number);
  await back(page);
  await page.close();
  return visitor;
}

export const accountOf = (stage, site) => `${stage.server.origin}/account/${site.domain.id}`;

/** A new user with a single key, on the account page. */
export async function atAccount(stage, options) {
  const site = await stage.site();
  const wallet = await stage.wallet(Symbol('a person'), site);
  const visitor = await signIn(stage, site, wallet, options);
  const page = await visitor.open(accountOf(stage, site));
  await state(page, 'account');
  return { site, wallet, visitor, page };
}

/** A user in two browsers; `page` is the account page in the first. */
export async function inTwoBrowsers(stage, options) {
  const account = await atAccount(stage, options);
  const other = await signIn(stage, account.site, account.wallet);
  await account.page.reload();
  await account.page.locator('ul.devices > li').nth(1).waitFor();
  return { ...account, other };
}

/** Presses a button in the row of a key, which is collapsed. */
export async function change(page, key, button) {
  const row = page.locator('ul.keys > li').nth(key);
  await row.locator('summary').click();
  await row.getByRole('button', { name: button }).click();
}

/** Adds a key to the user by the API, without the page. */
export async function addSpare(stage, site, wallet) {
  const spare = await stage.wallet(Symbol('a spare'));
  const { users } = await site.users();
  const { id } = users.find((user) => user.public_key === wallet.publicKey);
  await stage.server.command('users', 'credentials', 'add', id, spare.publicKey, '--domain', site.domain.id, '--name', 'Spare');
  return spare;
}

/** Name → an account page in that state. */
export const ACCOUNT_STATES = {
  'account with one key': async (stage, options) => (await atAccount(stage, options)).page,

  'account with two keys, one unfolded': async (stage, options) => {
    const { site, wallet, page } = await atAccount(stage, options);
    await addSpare(stage, site, wallet);
    await page.reload();
    await page.locator('summary').first().click();
    return page;
  },

  'name refused': async (stage, options) => {
    const { page, visitor } = await atAccount(stage, options);
    visitor.expected.push(/status of 422/);
    await page.locator('summary').click();
    await page.locator('input[name=name]').fill('\u200b');
    await page.getByRole('button', { name: /^(Save|Guardar)/ }).click();
    await page.locator('#errors').waitFor();
    return page;
  },

  'remove, asked': async (stage, options) => {
    const { site, wallet, page } = await atAccount(stage, options);
    await addSpare(stage, site, wallet);
    await page.reload();
    await change(page, 0, /^(Remove|Quitar)/);
    await state(page, 'remove');
    return page;
  },

  'two browsers': async (stage, options) => {
    const { page } = await inTwoBrowsers(stage, options);
    return page;
  },

  'sign-in ended': async (stage, options) => {
    const { page } = await inTwoBrowsers(stage, options);
    await page.locator('form[id^=end-] button').first().click();
    await page.locator('[role=status]').waitFor();
    return page;
  },

  removed: async (stage, options) => {
    const page = await ACCOUNT_STATES['remove, asked'](stage, options);
    await page.locator('form#remove button').click();
    await state(page, 'removed');
    return page;
  },

  'signed out everywhere': async (stage, options) => {
    const { page } = await atAccount(stage, options);
    await page.locator('form#sign-out-everywhere button').click();
    await state(page, 'signed-out');
    return page;
  },

  'list of accounts': async (stage, options) => {
    const { visitor } = await atAccount(stage, options);
    return visitor.open(`${stage.server.origin}/account`);
  },

  'nobody signed in': async (stage, options) => {
    const visitor = await stage.visitor(options);
    return visitor.open(`${stage.server.origin}/account`);
  },

  'not signed in there': async (stage, options) => {
    const visitor = await stage.visitor(options);
    return visitor.open(accountOf(stage, await stage.site()));
  },
};

/** States at another time, each on a new stage: a wallet's clock does not advance with the server's. */
export const LATE_ACCOUNT_STATES = {
  'a proof that is old': async (stage, options) => {
    const { page, visitor } = await atAccount(stage, options);
    visitor.expected.push(/ERR_/);
    await pass(stage, 6);
    await page.reload();
    await state(page, 'account');
    return page;
  },

  'a sign-in that is over': async (stage, options) => {
    const { visitor } = await atAccount(stage, options);
    visitor.expected.push(/ERR_/);
    await pass(stage, 25 * 60);
    return visitor.open(`${stage.server.origin}/account`);
  },
};
