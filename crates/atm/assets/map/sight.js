// The controls of the map: the list of visible ATMs, the buttons, and the position in the address.
import { name } from './above.js';
import { canvas, degrees, half, look, place, view, zoom } from './map.js';

/** Minimum zoom at which the visible ATMs are requested; below it, the list of states is shown. */
const NEAR = 7;
const WAIT_MS = 250;

const part = (of) => document.querySelector(`[data-part="${of}"]`);
const list = part('list');
const names = part('names');
const says = part('says');
const you = part('you');
const states = { list: list.innerHTML, names: names.innerHTML };
let waits = 0;
let asking = new AbortController();
let asked = '';

/** Shows the list, and its names on the map. */
function put(html) {
  list.innerHTML = html.list;
  names.innerHTML = html.names;
  names.prepend(you);
  name(names.querySelectorAll('[data-at]'));
}

async function ask() {
  const [right, down] = half();
  const [north, west] = degrees(-right, -down);
  const [south, east] = degrees(right, down);
  const [lat, lon] = degrees();
  history.replaceState(null, '', `#${view.zoom.toFixed(1)}/${lat.toFixed(5)}/${lon.toFixed(5)}`);
  const box = view.zoom < NEAR ? '' : [south, west, north, east].map((one) => one.toFixed(4)).join();
  if (box === asked) return;
  asked = box;
  asking.abort();
  asking = new AbortController();
  if (!box) {
    says.textContent = '';
    put(states);
    return;
  }
  const reply = await fetch(`${canvas.dataset.sight}box=${box}`, { signal: asking.signal }).catch(() => null);
  if (box !== asked) return;
  if (!reply?.ok) {
    asked = 'again';
    return;
  }
  const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
  const html = (of) => page.querySelector(`[data-part="${of}"]`)?.innerHTML ?? '';
  put({ list: html('list'), names: html('names') });
  says.textContent = list.querySelector('h2')?.textContent ?? '';
}

/** Shows the position from the address, if any. */
function start() {
  const [to, ...at] = location.hash.slice(1).split('/').map(Number);
  if (at.length === 2 && [to, ...at].every(Number.isFinite)) look({ ...place(at), zoom: to });
}

const acts = {
  closer: () => zoom(1),
  farther: () => zoom(-1),
  here: () => {
    says.textContent = says.dataset.asking;
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        says.textContent = '';
        // The server receives the visible area.
        const at = [coords.latitude, coords.longitude].map((one) => one.toFixed(3));
        you.dataset.at = at.join(' ');
        you.hidden = false;
        name(names.querySelectorAll('[data-at]'));
        look({ ...place(at.map(Number)), zoom: 12 });
      },
      () => (says.textContent = says.dataset[isSecureContext ? 'failed' : 'insecure']),
      { timeout: 20_000, maximumAge: 60_000 },
    );
  },
};
for (const [of, act] of Object.entries(acts)) part(of).onclick = act;
canvas.addEventListener('draw', () => {
  clearTimeout(waits);
  waits = setTimeout(ask, WAIT_MS);
});
onhashchange = start;
for (const element of document.querySelectorAll('[data-scripted]')) element.hidden = false;
// The view in the page's data is for a map of 700 by 480 pixels.
const [zoomed, ...middle] = canvas.dataset.view.split(' ').map(Number);
const [right, down] = half();
look({ ...place(middle), zoom: zoomed + Math.log2(Math.min(right / 350, down / 240)) });
put(states);
start();
