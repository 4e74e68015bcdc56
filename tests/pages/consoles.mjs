// Operators at the console, and every screen of it as they meet it: for the checks of looks, and for pictures.
import { codeOf, state } from './browser.mjs';

/** The link that the command line prints. */
export const linkOf = async (stage) => (await stage.server.command('console', 'link')).link;

/** Logs a new wallet in at the server's own domain, from a login page that waits. */
async function logIn(page, wallet) {
  await page.locator('form#login button').click();
  for (const next of ['create', null]) {
    await state(page, next === 'create' ? 'waiting' : 'create');
    const { code, number } = await codeOf(page);
    await wallet.scan(code, number);
  }
}

/** A browser whose person became an operator by a link: `{visitor, page, wallet}`, at Today. */
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
