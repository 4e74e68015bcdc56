// The map: its view, its canvas with lines and dots, and its navigation.

/** Width of the Mercator projection, around the earth. */
export const UNITS = 1024;
export const canvas = document.querySelector('canvas');
const pen = canvas.getContext('2d');
const turn = Math.PI / 180;

/** The middle in units. At zoom 0 the earth is 256 pixels wide. */
export const view = { x: 0, y: 0, zoom: 3 };
/** Lines in hundredths of units; dots in units. */
const shown = { lines: new Path2D(), dots: [] };
let frame = 0;

export const place = ([lat, lon]) => ({ x: (lon / 360 + 0.5) * UNITS, y: (0.5 - Math.asinh(Math.tan(lat * turn)) / 2 / Math.PI) * UNITS });
export const scale = () => 2 ** (view.zoom - 2);
/** Distances from the middle to the edges, in pixels. Pixel coordinates are relative to the middle. */
export const half = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];
export const pixel = ({ x, y }) => [(x - view.x) * scale(), (y - view.y) * scale()];
export const degrees = (right = 0, down = 0) => [
  Math.atan(Math.sinh((1 - (view.y + down / scale()) / UNITS * 2) * Math.PI)) / turn,
  ((view.x + right / scale()) / UNITS - 0.5) * 360,
];

export function look(change = {}) {
  Object.assign(view, change);
  for (const [name, least, most] of [['zoom', 1, 17], ['x', 0, UNITS], ['y', 0, UNITS]]) view[name] = Math.min(Math.max(view[name], least), most);
  frame ||= requestAnimationFrame(draw);
}

export function show(change) {
  Object.assign(shown, change);
  look();
}

const pan = (right = 0, down = 0) => look({ x: view.x + right / scale(), y: view.y + down / scale() });

/** Zooms about a pixel. */
export function zoom(by = 0, right = 0, down = 0) {
  pan(right, down);
  look({ zoom: view.zoom + by });
  pan(-right, -down);
}

function draw() {
  frame = 0;
  const [right, down] = half();
  const ratio = devicePixelRatio;
  const style = getComputedStyle(canvas);
  canvas.width = right * 2 * ratio;
  canvas.height = down * 2 * ratio;
  pen.translate(right * ratio, down * ratio);
  pen.scale(ratio, ratio);
  pen.save();
  pen.translate(...pixel({ x: 0, y: 0 }));
  pen.scale(scale() / 100, scale() / 100);
  pen.lineWidth = 100 / scale();
  pen.strokeStyle = style.caretColor;
  pen.stroke(shown.lines);
  pen.restore();

  // Dots that would cover another are skipped.
  const covered = new Set();
  const radius = Math.min(Math.max(view.zoom / 2 - 1, 1.5), 4.5);
  for (const dot of shown.dots) {
    const [x, y] = pixel(dot);
    const cell = (x >> 1) * 9999 + (y >> 1);
    if (Math.abs(x) > right || Math.abs(y) > down || covered.has(cell)) continue;
    covered.add(cell);
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 7);
  }
  pen.fillStyle = style.color;
  pen.fill();
  canvas.dispatchEvent(new Event('draw'));
}

const open = (right = 0, down = 0) => {
  const [lat, lon] = degrees(right, down);
  location.assign(`${canvas.dataset.near}lat=${lat.toFixed(5)}&lon=${lon.toFixed(5)}`);
};

const fingers = new Map();
let moved = 0;
const from = (event) => [event.offsetX - half()[0], event.offsetY - half()[1]];
const away = ([x, y], other) => Math.hypot(x - other[0], y - other[1]);
canvas.onpointerdown = (event) => {
  canvas.setPointerCapture(event.pointerId);
  moved = fingers.size * 9;
  fingers.set(event.pointerId, from(event));
};
canvas.onpointermove = (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = from(event);
  const other = [...fingers.values()].find((one) => one !== before);
  moved += away(now, before);
  if (other) zoom(Math.log2(away(now, other) / away(before, other)), ...other);
  else pan(before[0] - now[0], before[1] - now[1]);
  fingers.set(event.pointerId, now);
};
canvas.onpointerup = (event) => fingers.delete(event.pointerId) && moved < 5 && open(...from(event));
canvas.onpointercancel = (event) => fingers.delete(event.pointerId);
canvas.onwheel = (event) => {
  event.preventDefault();
  zoom(-event.deltaY / (event.deltaMode ? 9 : 300), ...from(event));
};
canvas.onkeydown = (event) => {
  const keys = { ArrowLeft: [pan, -80], ArrowRight: [pan, 80], ArrowUp: [pan, 0, -80], ArrowDown: [pan, 0, 80], '+': [zoom, 1], '=': [zoom, 1], '-': [zoom, -1], Enter: [open] };
  const [act, ...amounts] = keys[event.key] ?? [];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(...amounts);
};
new ResizeObserver(() => look()).observe(canvas);
matchMedia('(prefers-color-scheme: dark)').onchange = () => look();
