// The map with test ATMs: a town with more ATMs than a list shows, two smaller towns, and an ATM across the date line.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER = 'id,name,latitude,longitude,street,city,state,country,opening_hours';

/** Returns this many ATMs around a point, a few hundred metres from each other. */
function around(name, city, state, lat, lon, count) {
  return Array.from({ length: count }, (_, index) => {
    const [north, east] = [(index % 8) * 0.004, Math.floor(index / 8) * 0.004];
    const hours = ['24/7', '', 'Mo-Su 00:00-00:01'][index % 3];
    return [`${name}-${index}`, `${name} ${index}`, (lat + north).toFixed(5), (lon + east).toFixed(5), `${index} Example St`, city, state, 'US', hours].join(',');
  });
}

export const MACHINES = [
  ...around('Lake', 'Austin', 'TX', 30.26, -97.75, 12),
  ...around('Hill', 'Round Rock', 'TX', 30.5, -97.68, 3),
  ...around('River', 'Sacramento', 'CA', 38.57, -121.49, 60),
  ...around('Coast', 'Adak', 'AK', 51.88, -176.65, 1),
];

/** Replaces the fictional ATMs of the server's catalogue. */
export async function importMachines(server) {
  const file = join(server.folder, 'machines.csv');
  writeFileSync(file, [HEADER, ...MACHINES].join('\n'));
  await server.command('atms', 'import', file, '--source', 'example', '--attribution', 'Example data');
}

/** Waits until the map has drawn its lines and dots. */
export const drawn = (page) => page.locator('canvas[data-state="drawn"]').waitFor();
