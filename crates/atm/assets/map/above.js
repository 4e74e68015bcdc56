// The labels above the canvas: markers, names, and distance rings around the middle.
import { UNITS, canvas, degrees, half, look, pixel, place, scale, view } from './map.js';

const METRES = 40_075_017;
/** Minimum zoom at which a map shows a city. */
const CITY = 9;
/** Distance between lines of names, in pixels. */
const LINE = 24;

const rings = document.querySelectorAll('.ring');
let named = [];

/** Positions elements; if they overlap, earlier ones have priority. */
export function name(elements) {
  named = [...elements].map((element) => ({ element, ...place(element.dataset.at.split(' ').map(Number)), wide: element.offsetWidth / 2 }));
  look();
}

function placeNames() {
  const [right, down] = half();
  const taken = [];
  for (const { element, wide, ...at } of named) {
    const [x, y] = pixel(at);
    const isIn = Math.abs(x) + wide < right && Math.abs(y) + LINE / 2 < down;
    const isFree = isIn && taken.every((one) => Math.abs(one.x - x) > one.wide + wide || Math.abs(one.y - y) > LINE);
    if (isFree) taken.push({ x, y, wide });
    element.style.visibility = isFree ? 'visible' : 'hidden';
    element.style.translate = isFree ? `${x}px ${y}px` : '';
  }
}

/** Draws two rings: with a round radius, and with twice that radius. */
function placeRings() {
  const pixels = (Number(canvas.dataset.unit) / METRES / Math.cos((degrees()[0] * Math.PI) / 180)) * UNITS * scale();
  const most = Math.min(...half()) / 2 / pixels;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = power * (most < 2 * power ? 1 : most < 5 * power ? 2 : 5);
  rings.forEach((ring, index) => {
    ring.hidden = view.zoom < CITY;
    ring.style.width = `${(index + 1) * length * pixels * 2}px`;
    ring.dataset.length = Number(((index + 1) * length).toPrecision(2)).toLocaleString(document.documentElement.lang);
  });
}

canvas.addEventListener('draw', () => {
  placeNames();
  placeRings();
});
