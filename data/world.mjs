// The outlines of the countries: as one SVG path for the whole earth, and finer in squares of it, in hundredths of a unit of the
// Mercator map on which the earth is 1024 units wide. Each line is there once. The lines of the United States are those of
// states.txt. Arguments: the path of states.txt, the folder of the results.
import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { mesh } from 'topojson-client';
import { filter, filterWeight, presimplify, simplify } from 'topojson-simplify';

const HUNDREDTHS = 102_400;
/** In square degrees: corners with smaller triangles go, and so do islands of that size. */
const LEAST_CORNER = 0.001;
/** The earth has so many squares from west to east, and from north to south. */
const SQUARES = 8;
/** The United States and its territories, by number of ISO 3166-1. */
const STATES = new Set(['840', '016', '316', '580', '630', '850']);
const ANTARCTICA = '010';
/** Borders nearer than one or two tenths of a degree to a line of states.txt are that line. */
const NEAR = HUNDREDTHS / 3600;

const [statesFile, folder] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(new URL(`node_modules/world-atlas/${file}`, import.meta.url)));
const project = ([lon, lat]) => [
  Math.round((lon / 360 + 0.5) * HUNDREDTHS),
  Math.round((0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / 2 / Math.PI) * HUNDREDTHS),
];
/** Numbers one behind the other: the sign parts them as well as a space does. */
const join = (numbers) => numbers.join(' ').replaceAll(' -', '-');
const isOfStates = (country) => STATES.has(country.id);

function path(points) {
  const steps = points.slice(1).map(([x, y], index) => [x - points[index][0], y - points[index][1]]);
  return steps.length === 0 ? '' : `M${join(points[0])}l${join(steps.flat())}`;
}

/** Splits lines where a key of their pieces changes; pieces with the key null are left out. */
function* split(lines, keyOf) {
  for (const line of lines) {
    let piece = [line[0]];
    let key = null;
    for (const [index, point] of line.slice(1).entries()) {
      const before = line[index];
      const next = keyOf(before, point);
      if (next !== key) {
        if (key !== null && piece.length > 1) yield [key, piece];
        [key, piece] = [next, [before]];
      }
      piece.push(point);
    }
    if (key !== null && piece.length > 1) yield [key, piece];
  }
}

/** The lines without the cut along the date line, and without points that are equal after rounding. */
function projectLines({ coordinates }) {
  const rounded = coordinates.map((line) => line.map(project).filter(([x, y], index, all) => index === 0 || x !== all[index - 1][0] || y !== all[index - 1][1]));
  const isCut = ([x], [toX]) => Math.abs(x - toX) > HUNDREDTHS / 2 || (x === toX && x % HUNDREDTHS === 0);
  return [...split(rounded, (from, to) => (isCut(from, to) ? null : ''))].map(([, line]) => line);
}

/** The cells that the lines of the states cross. */
function cells() {
  const crossed = new Set();
  for (const line of readFileSync(statesFile, 'utf8').split('M').slice(1)) {
    let [x, y, ...steps] = line.match(/-?\d+/g).map(Number);
    for (let at = 0; at < steps.length; at += 2) {
      const parts = Math.ceil(Math.hypot(steps[at], steps[at + 1]) / NEAR) + 1;
      for (let part = 0; part <= parts; part += 1) {
        crossed.add(`${Math.floor((x + (steps[at] * part) / parts) / NEAR)},${Math.floor((y + (steps[at + 1] * part) / parts) / NEAR)}`);
      }
      x += steps[at];
      y += steps[at + 1];
    }
  }
  return crossed;
}

function isDrawn(crossed, [x, y], [toX, toY]) {
  const cell = [(x + toX) / 2 / NEAR, (y + toY) / 2 / NEAR].map(Math.floor);
  return [-1, 0, 1].some((right) => [-1, 0, 1].some((down) => crossed.has(`${cell[0] + right},${cell[1] + down}`)));
}

const world = read('countries-110m.json');
const elsewhere = (one, other) => one.id !== ANTARCTICA && !isOfStates(one) && !isOfStates(other);
writeFileSync(joinPath(folder, 'world.txt'), projectLines(mesh(world, world.objects.countries, elsewhere)).map(path).join(''));

const weighed = presimplify(read('countries-50m.json'));
const fine = simplify(filter(weighed, filterWeight(weighed, LEAST_CORNER)), LEAST_CORNER);
const lines = projectLines(mesh(fine, fine.objects.countries, elsewhere));
// In lakes, states.txt has the shore and not the border.
const borders = projectLines(mesh(fine, fine.objects.countries, (one, other) => isOfStates(one) !== isOfStates(other)));
const crossed = cells();
const inLakes = [...split(borders, (from, to) => (isDrawn(crossed, from, to) ? null : ''))].map(([, line]) => line);
const square = (number, other) => Math.min(Math.max(Math.floor(((number + other) / 2 / HUNDREDTHS) * SQUARES), 0), SQUARES - 1);
const squares = new Map();
for (let y = 0; y < SQUARES; y += 1) for (let x = 0; x < SQUARES; x += 1) squares.set(`${x}-${y}`, '');
for (const [key, line] of split([...lines, ...inLakes], ([x, y], [toX, toY]) => `${square(x, toX)}-${square(y, toY)}`)) {
  squares.set(key, squares.get(key) + path(line));
}
writeFileSync(joinPath(folder, 'outlines.txt'), [...squares].map(([name, text]) => `${name} ${text}\n`).join(''));
