// What the map shows of the whole country: the lines of states, and every machine as a dot.
import { canvas, place, show } from './map.js';

/** How many there are; all latitudes, all longitudes in ten-thousandths of a degree, each as what it is more than the last. */
function read(bytes) {
  let next = 4;
  const numbers = () => {
    let sum = 0;
    return Array.from({ length: new DataView(bytes.buffer).getUint32(0, true) }, () => {
      let more = 0;
      let shift = 0;
      do more |= (bytes[next] & 127) << shift;
      while (((shift += 7), bytes[next++] > 127));
      return (sum += (more >>> 1) ^ -(more & 1)) / 1e4;
    });
  };
  const north = numbers();
  const east = numbers();
  return north.map((lat, index) => place([lat, east[index]]));
}

/** A map without dots is one still: the list beside it has all of them. */
const load = async (address, take) => {
  const reply = await fetch(address);
  if (reply.ok) show(await take(reply));
};
await Promise.allSettled([
  load(canvas.dataset.lines, async (reply) => ({ lines: new Path2D(await reply.text()) })),
  load(canvas.dataset.points, async (reply) => ({ dots: read(new Uint8Array(await reply.arrayBuffer())) })),
]);
performance.mark('drawn');
canvas.dataset.state = 'drawn';
