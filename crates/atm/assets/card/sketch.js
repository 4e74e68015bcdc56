/** Metres of a degree of latitude. */
const DEGREE = 111_195;
const RADIUS = 62;

/**
 * The positions of ATMs, as the content of an `<svg>`: north is up, the numbers match the list, and rings show
 * the distance from the centre in a `unit`: `km` or the word for miles. Without a centre, the rings are around the middle
 * of all ATMs and have no labels. Only numbers are written as markup.
 */
export function sketch(atms, centre, unit) {
  const mean = (key) => atms.reduce((sum, atm) => sum + atm[key] / atms.length, 0);
  const { lat, lon } = centre || { lat: mean('lat'), lon: mean('lon') };
  const east = (to) => ((to - lon + 540) % 360 - 180) * Math.cos(lat / 180 * Math.PI);
  const spots = atms.map((atm) => [east(atm.lon), lat - atm.lat, atm.status === 'open' ? 'open' : '']);
  const metres = unit === 'km' ? 1000 : 1609.344;
  const farthest = Math.max(0.5, ...spots.map(([x, y]) => Math.hypot(x, y) * DEGREE / metres));
  const outer = 2 ** Math.ceil(Math.log2(farthest));
  const scale = RADIUS * DEGREE / metres / outer;
  const ring = (part) => `<circle r="${RADIUS * part}" />${centre ? `<text y="${RADIUS * part + 12}">${outer * part} ${unit}</text>` : ''}`;
  const spot = ([x, y, look], at) => `<g class="${look}" transform="translate(${x * scale} ${y * scale})"><circle r="10" /><text y="4">${at + 1}</text></g>`;
  return [ring(0.5), ring(1), ...spots.map(spot).reverse()].join('');
}
