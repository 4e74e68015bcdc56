// ATMs around the five places of the layout tests, with the facts that real sources have: most have no hours, few a fee.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER = 'ref,name,lat,lon,street,city,region,postcode,country,status,reported_at,hours,phone,buy,sell,buy_fee_percent,currency';
const PLACES = [['Austin', 'TX', 30.267, -97.743], ['Chicago', 'IL', 41.878, -87.63], ['St. Louis', 'MO', 38.627, -90.199],
  ['Beverly Hills', 'CA', 34.073, -118.4], ['Los Angeles', 'CA', 33.9425, -118.408]];
const NAMES = ['Bitcoin ATM', 'Corner Market', 'Coin Kiosk Bitcoin ATM', 'Quick Stop Food Mart', 'Lakeside Laundry & Dry Cleaning',
  'Family Pharmacy and Wellness Center', 'Speedy Liquor', 'Gate Fuel'];
const STREETS = ['Congress Ave', 'E 5th St', 'Rio Grande St', 'N Lamar Blvd', 'Martin Luther King Jr Blvd', 'W Century Blvd', 'Wilshire Blvd'];
const DAYS = [1, 3, 9, 25, 90, 300, 900];

const daysAgo = (days) => new Date(Date.now() - days * 24 * 3600_000).toISOString();

function row([city, region, lat, lon], at) {
  const [isInService, hasFee] = [at % 5 !== 0, at % 4 === 0 && region !== 'MO'];
  const hours = region === 'TX' ? '' : ['24/7', 'Mo-Su 08:00-22:00', '', ''][at % 4];
  return [`${city} ${at}`, NAMES[at % NAMES.length], (lat + ((at % 8) - 4) / 60).toFixed(5), (lon + (Math.floor(at / 8) - 4) / 60).toFixed(5),
    `${at * 37 + 1} ${STREETS[at % STREETS.length]}`, city, region, '', 'US', isInService ? 'in service' : '', isInService ? daysAgo(DAYS[at % DAYS.length]) : '',
    hours, at % 3 ? '' : '+1 555 010 0100', at % 6 ? 'yes' : '', at % 9 ? '' : 'yes', hasFee ? '16.5' : '', 'USD'].join(',');
}

/** Imports 62 ATMs around each place. */
export async function importPlaces(server) {
  const rows = PLACES.flatMap((place) => Array.from({ length: 62 }, (_, at) => row(place, at)));
  const file = join(server.folder, 'places.csv');
  writeFileSync(file, [HEADER, ...rows].join('\n'));
  await server.command('atms', 'import', file, '--source', 'places', '--attribution', 'Machines: an example source');
}
