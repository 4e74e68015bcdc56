// The lines of the map: the borders of the states, and the outlines of the countries, finer ones in the visible squares.
import { UNITS, canvas, half, scale, show, view } from './map.js';

/** Minimum zoom of the finer outlines. */
const FINE = 5;
/** Number of squares from west to east, and from north to south. */
const SQUARES = 8;

const { lines, world } = canvas.dataset;
const squares = {};
const whole = {};
let shown;

const read = async (address) => {
  const reply = await fetch(address);
  if (!reply.ok) throw new Error(address);
  return new Path2D(await reply.text());
};

/** Returns the numbers of the squares between two sides. */
function between(middle, away) {
  const [from, to] = [middle - away, middle + away].map((side) => Math.min(Math.max(Math.floor((side / UNITS) * SQUARES), 0), SQUARES - 1));
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Requests the visible squares, and draws them once all are there; until then, and on a map of large areas, the world. */
function draw() {
  const [right, down] = half().map((pixels) => pixels / scale());
  const names = view.zoom < FINE ? [] : between(view.y, down).flatMap((y) => between(view.x, right).map((x) => `${x}-${y}`));
  for (const name of names) squares[name] ??= read(world.replace('world', name)).then((path) => ((squares[name] = path), draw()), () => {});
  const fine = names.map((name) => squares[name]);
  const paths = [whole.states, ...(fine.length && fine.every((path) => path instanceof Path2D) ? fine : [whole.world])].filter(Boolean);
  if (shown?.length === paths.length && paths.every((path, index) => path === shown[index])) return;
  shown = paths;
  const all = new Path2D();
  for (const path of paths) all.addPath(path);
  show({ lines: all });
}

const load = async (name, address) => {
  whole[name] = await read(address);
  draw();
};
/** Fulfilled when the lines are there. A failure is ignored: the map works without them. */
export const loaded = Promise.allSettled([load('states', lines), load('world', world)]);
canvas.addEventListener('draw', draw);
