// Operators at the console, and all of its screens: for layout checks and screenshots.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, state } from './browser.mjs';

/** Returns the link that the command line prints. */
export const linkOf = async (stage) => (await stage.server.command('console', 'link')).link;

/** Logs in a new wallet at the system domain, from a login page. */
async function logIn(page, wallet) {
  await page.locator('form#login button').click();
  for (const next of ['create', null]) {
    await state(page, next === 'create' ? 'waiting' : 'create');
    const { code, number } = await codeOf(page);
    await wallet.scan(code, number);
  }
}

/** A browser whose user became an operator by a link: `{visitor, page, wallet}`, at Today. */
export async function becomeOperator(stage, options = {}) {
  const [visitor, wallet] = [await stage.visitor(options), await stage.wallet(Symbol('an operator'))];
  const link = await linkOf(stage);
  const page = await visitor.open(link);
  if (options.javaScriptEnabled === false) {
    await page.getByLabel('The link').fill(link);
    await page.getByRole('button', { name: 'Go on' }).click();
  }
  await state(page, 'setup-login');
  await logIn(page, wallet);
  await state(page, 'confirm');
  await page.locator('form#confirm button').click();
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  return { visitor, page, wallet };
}

/** The name of an ATM, a source and a site that contains markup. */
// Imports remove complete tags.
export const HOSTILE = '<script document.title="x" <img src=x onerror=alert(1)';

/** Reports the second ATM, which becomes stage.machine. */
async function report(stage, page) {
  await page.goto(`${stage.server.origin}/console/machines?q=second`);
  const link = await page.getByRole('link', { name: 'Second' }).getAttribute('href');
  stage.machine = link.split('/').at(-1);
  await page.goto(`${stage.server.origin}/atm/${stage.machine}/report`);
  await page.locator('input[value=other]').check();
  await page.locator('textarea').fill(HOSTILE);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('[data-state="thanks"]').waitFor();
}

/** A deployment with content on every screen, and an operator: `{page, visitor, origin}`. */
export async function atBusyConsole(stage, options) {
  const { server } = stage;
  if (!stage.isBusy) {
    const file = join(server.folder, 'machines.csv');
    writeFileSync(file, `name,lat,lon,website\n"${HOSTILE.replaceAll('"', '""')}",44.95,-93.1,javascript:alert(1)\nSecond,44.96,-93.2,\n`);
    await server.command('atms', 'import', file, '--source', 'mine <b>bold</b>');
    const domain = await server.host('shop.example', 'http://127.0.0.1:9/events');
    await server.command('deliveries', 'test', domain.id);
    stage.isBusy = true;
  }
  const entered = await becomeOperator(stage, options);
  if (!stage.machine) await report(stage, entered.page);
  await entered.page.goto(`${server.origin}/console`);
  return entered;
}

const screen = (path) => async (stage, options) => {
  const { page } = await atBusyConsole(stage, options);
  await page.goto(`${stage.server.origin}/console${typeof path === 'string' ? path : path(stage)}`);
  return page;
};

/** Name → a page of the console. */
export const CONSOLE_STATES = {
  'console, today': screen(''),
  'console, machines': screen('/machines?q=script'),
  'console, machine': screen((stage) => `/machines/${stage.machine}`),
  'console, import': screen('/machines/import'),
  'console, reports': screen('/reports?state=shown'),
  'console, sites': screen('/sites'),
  'console, deliveries': screen('/deliveries'),
  'console, delivery': async (stage, options) => {
    const page = await screen('/deliveries')(stage, options);
    await page.locator('.table a').first().click();
    await page.getByRole('heading', { name: 'One delivery' }).waitFor();
    return page;
  },
  'console, site': async (stage, options) => {
    const page = await screen('/sites')(stage, options);
    await page.getByRole('link', { name: 'shop.example' }).click();
    await page.getByRole('heading', { name: 'shop.example' }).waitFor();
    return page;
  },
  'console, add a site': screen('/sites/new'),
  'console, added site': async (stage, options) => {
    const page = await screen('/sites/new')(stage, options);
    await page.getByLabel('Host name').fill(`shop-${crypto.randomUUID().slice(0, 8)}.example`);
    await page.getByLabel('Environment').selectOption('live');
    await page.getByRole('button', { name: 'Add the site' }).click();
    await page.locator('#new-secret').waitFor();
    return page;
  },
  'console, next secret': async (stage, options) => {
    const page = await CONSOLE_STATES['console, site'](stage, options);
    await page.getByRole('button', { name: /next secret$/ }).click();
    await page.getByRole('heading', { name: 'Make the next secret?' }).waitFor();
    return page;
  },
  'console, found out': async (stage, options) => {
    const page = await CONSOLE_STATES['console, delivery'](stage, options);
    await page.getByRole('button', { name: 'Find out why' }).click();
    await page.getByRole('heading', { name: /Nothing was compared/ }).waitFor();
    return page;
  },
  'console, keys': screen('/keys'),
  'console, log': screen('/log'),
  'console, settings': screen('/settings'),
  'console, health': async (stage, options) => {
    const page = await screen('/health')(stage, options);
    await page.getByText(/^Checked/).waitFor();
    return page;
  },
  'console, new key': async (stage, options) => {
    const page = await screen('/keys')(stage, options);
    await page.getByLabel('Name').fill('My shop');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.locator('#new-key').waitFor();
    return page;
  },
  'console, question': async (stage, options) => {
    const page = await CONSOLE_STATES['console, new key'](stage, options);
    await page.getByRole('button', { name: 'Revoke' }).first().click();
    await page.getByRole('heading', { name: 'Revoke this key?' }).waitFor();
    return page;
  },
  'console, comparison': async (stage, options) => {
    const page = await screen('/machines/import')(stage, options);
    const buffer = Buffer.from('name,lat,lon,hours\nThird,44.95,-93.1,whenever\nNowhere,x,y,\n');
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'third.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Compare it' }).click();
    await page.getByRole('heading', { name: 'What would change' }).first().waitFor();
    return page;
  },
  'console, log in': async (stage, options) => (await stage.visitor({ ...options, expected: [/status of 403/] })).open(`${stage.server.origin}/console`),
  'console, set up': async (stage, options) => (await stage.visitor(options)).open(`${stage.server.origin}/console/setup`),
  'console, set-up link refused': async (stage, options) => (await stage.visitor({ ...options, expected: [/status of 403/] })).open(`${stage.server.origin}/console/setup#${'A'.repeat(43)}`),
};
