// The lines of the states as one SVG path, in hundredths of a unit of the Mercator map on which the earth is 1024 units wide.
// Each line is there once, and simple enough that none of its corners is missed at the zoom of a state.
import { readFileSync } from 'node:fs';
import { mesh } from 'topojson-client';
import { filter, filterWeight, presimplify, simplify } from 'topojson-simplify';

const HUNDREDTHS = 102_400;
/** In square degrees: corners with smaller triangles go, and so do islands of that size. */
const LEAST_CORNER = 0.003;

const project = ([lon, lat]) => [
  Math.round((lon / 360 + 0.5) * HUNDREDTHS),
  Math.round((0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / 2 / Math.PI) * HUNDREDTHS),
];
/** Numbers one behind the other: the sign parts them as well as a space does. */
const join = (numbers) => numbers.join(' ').replaceAll(' -', '-');

function path(line) {
  const points = line.map(project);
  const steps = points.slice(1).map(([x, y], index) => [x - points[index][0], y - points[index][1]]);
  const moves = steps.filter(([x, y]) => x !== 0 || y !== 0);
  return moves.length === 0 ? '' : `M${join(points[0])}l${join(moves.flat())}`;
}

const weighed = presimplify(JSON.parse(readFileSync(new URL('node_modules/us-atlas/states-10m.json', import.meta.url))));
const simple = simplify(filter(weighed, filterWeight(weighed, LEAST_CORNER)), LEAST_CORNER);
process.stdout.write(mesh(simple, simple.objects.states).coordinates.map(path).join(''));
