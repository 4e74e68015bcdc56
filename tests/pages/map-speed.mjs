// Measures the speed and size of the map: `node map-speed.mjs [FILE [ARGUMENT…]]` imports a file of ATMs with these
// arguments (`signpost atms import --help`), or as many generated ones, opens the map of all of them a few times, and
// prints the medians, also those in bench/goals.tsv for its table. It is not a test: a busy machine would fail it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { drawn } from './atlas.mjs';
import { Visitor, launch } from './browser.mjs';
import { Server } from './server.mjs';

const ROUNDS = 7;
const FRAMES = 40;
const PLACES = { country: '', state: '#7.2/30.80000/-97.50000', city: '#10.2/34.03000/-118.20000' };

/** Cities with ATMs; the first have most of them. */
const CITIES = [[34.05, -118.24], [40.71, -74.01], [41.88, -87.63], [29.76, -95.37], [33.75, -84.39], [25.76, -80.19], [32.78, -96.8], [39.95, -75.17],
  [33.45, -112.07], [42.36, -71.06], [30.27, -97.74], [37.77, -122.42], [47.61, -122.33], [39.74, -104.99], [36.17, -115.14], [35.23, -80.84],
  [44.98, -93.27], [38.63, -90.2], [27.95, -82.46], [45.52, -122.68], [61.22, -149.9], [21.31, -157.86], [35.08, -106.65], [43.62, -116.2]];
const MACHINES = 10_000;

/** Writes a deterministic file of ATMs in and around these cities. */
function makeUp(folder) {
  let state = 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const rows = Array.from({ length: MACHINES }, (_, at) => {
    const [lat, lon] = CITIES[Math.floor(random() ** 2 * CITIES.length)];
    const off = () => (random() - 0.5) * random() * 3;
    return `${at},${(lat + off()).toFixed(5)},${(lon + off()).toFixed(5)},Shop ${at}`;
  });
  const file = join(folder, 'machines.csv');
  writeFileSync(file, `ref,lat,lon,name\n${rows.join('\n')}\n`);
  return file;
}

const result = (key, figure) => console.log(`RESULT\t${key}\t${figure}`);
const median = (numbers) => [...numbers].sort((one, other) => one - other)[numbers.length >> 1].toFixed(1);

/** Returns the time from the request until its lines and dots are drawn, in milliseconds. */
async function timeToDrawn(server, browser) {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/map`);
  await drawn(page);
  const time = await page.evaluate(() => Math.max(...performance.getEntriesByName('drawn').map((mark) => mark.startTime)));
  await visitor.leave();
  return time;
}

/** Returns the duration of a redraw in milliseconds, and the memory of its scripts in megabytes. */
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
        // Frames are drawn in the order of their requests.
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
const [server, browser] = await Promise.all([Server.start(), launch()]);
try {
  await server.command('atms', 'import', file ?? makeUp(server.folder), ...options);
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
  result('map_drawn', median(times));
  let slowest = 0;
  for (const [name, place] of Object.entries(PLACES)) {
    const { ms, megabytes } = await redraw(server, browser, place);
    console.log(`${name}: a redraw takes ${ms} ms, scripts have ${megabytes} MB`);
    slowest = Math.max(slowest, ms);
  }
  result('map_redraw', slowest);
} finally {
  await Promise.all([server.close(), browser.close()]);
}
