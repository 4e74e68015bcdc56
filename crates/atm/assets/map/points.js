// The dots of the map: one for each ATM.
import { loaded } from './lines.js';
import { canvas, place, show } from './map.js';

/** Parses the points: their number, all latitudes, all longitudes; each in ten-thousandths of a degree, as a delta. */
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

/** A failure is ignored: the map works without dots, because the list has all ATMs. */
const load = async () => {
  const reply = await fetch(canvas.dataset.points);
  if (reply.ok) show({ dots: read(new Uint8Array(await reply.arrayBuffer())) });
};
await Promise.allSettled([load(), loaded]);
performance.mark('drawn');
canvas.dataset.state = 'drawn';
