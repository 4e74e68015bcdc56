// How fast the map is, and what it weighs: `node map-speed.mjs FILE [ARGUMENT…]` imports a file of machines with these arguments
// (`signpost atms import --help`), opens the map of all of them a few times, and prints the medians. No test: a busy machine
// would fail it.
import { gzipSync } from 'node:zlib';
import { drawn } from './atlas.mjs';
import { Visitor, launch } from './browser.mjs';
import { Server } from './server.mjs';

const ROUNDS = 7;
const FRAMES = 40;
const PLACES = { country: '', state: '#7.2/30.80000/-97.50000', city: '#10.2/34.03000/-118.20000' };

const median = (numbers) => [...numbers].sort((one, other) => one - other)[numbers.length >> 1].toFixed(1);

/** Since the page was asked for: when its lines and dots were there, in milliseconds. */
async function timeToDrawn(server, browser) {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/map`);
  await drawn(page);
  const time = await page.evaluate(() => Math.max(...performance.getEntriesByName('drawn').map((mark) => mark.startTime)));
  await visitor.leave();
  return time;
}

/** How long one redraw keeps the page busy, in milliseconds, and how much its scripts have in memory, in megabytes. */
async function redraw(server, browser, place) {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/map${place}`);
  await drawn(page);
  const times = await page.evaluate(async (frames) => {
    const script = performance.getEntriesByType('resource').find((entry) => entry.name.endsWith('/map.js'));
    const { look, view } = await import(script.name);
    const found = [];
    for (let frame = 0; frame < frames; frame += 1) {
      await new Promise((done) => {
        let start = 0;
        // Frames are drawn in the order in which they are asked for.
        requestAnimationFrame(() => (start = performance.now()));
        look({ x: view.x + 0.001 });
        requestAnimationFrame(() => done(found.push(performance.now() - start)));
      });
    }
    return found;
  }, FRAMES);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find((metric) => metric.name === 'JSHeapUsedSize').value / 1e6;
  await visitor.leave();
  return { ms: median(times), megabytes: heap.toFixed(1) };
}

const [file, ...options] = process.argv.slice(2);
if (!file) throw new Error('node map-speed.mjs FILE [ARGUMENT…]');
const [server, browser] = await Promise.all([Server.start(), launch()]);
try {
  await server.command('atms', 'import', file, ...options);
  await server.kill();
  await server.start();
  const page = await (await fetch(`${server.origin}/map`)).text();
  const files = ['/map', ...new Set(page.match(/\/map\/[\w./-]+/g))].filter((path) => !path.includes('sight'));
  for (const path of files) {
    const bytes = Buffer.from(await (await fetch(server.origin + path)).arrayBuffer());
    console.log(`${path.replace(/[0-9a-f]{16}/, '…')}: ${bytes.length} B, ${gzipSync(bytes, { level: 9 }).length} B compressed`);
  }
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await timeToDrawn(server, browser));
  console.log(`drawn after ${median(times)} ms`);
  for (const [name, place] of Object.entries(PLACES)) {
    const { ms, megabytes } = await redraw(server, browser, place);
    console.log(`${name}: a redraw takes ${ms} ms, scripts have ${megabytes} MB`);
  }
} finally {
  await Promise.all([server.close(), browser.close()]);
}
