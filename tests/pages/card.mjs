// Builds the card of the locator's tools from its parts: `node card.mjs --write`. The program embeds the committed file, so
// that its build needs no Node; a test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ASSETS = new URL('../../crates/atm/assets/', import.meta.url);
/** The file that the program embeds. */
export const KEPT = new URL('atms-v1.html', ASSETS);

/** Minifies a part for browsers, into a single line. */
async function tighten(name) {
  const entryPoints = [fileURLToPath(new URL(`card/${name}`, ASSETS))];
  const { outputFiles } = await build({ entryPoints, bundle: true, minify: true, write: false, charset: 'utf8', target: 'es2022' });
  return outputFiles[0].text.trim();
}

/** Builds the card from its parts. */
export async function makeCard() {
  const [html, style, script] = [readFileSync(new URL('card/card.html', ASSETS), 'utf8'), await tighten('card.css'), await tighten('card.js')];
  return html.replaceAll('>\n<', '><').replace('<style></style>', () => `<style>${style}</style>`).replace('<script></script>', () => `<script>${script}</script>`);
}

if (process.argv.includes('--write')) writeFileSync(KEPT, await makeCard());
