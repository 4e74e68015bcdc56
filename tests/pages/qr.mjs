// Decodes QR codes of pages, like a phone's camera.
import jsQR from 'jsqr';

/** Pixels per module. */
const SIDE = 4;

/** Returns the text of the QR code in an `<svg>` with paths of `M`, `h` and `v`. */
export async function read(svg) {
  const side = Number((await svg.getAttribute('viewBox')).split(' ')[2]);
  const path = await svg.locator('path').getAttribute('d');
  const width = side * SIDE;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)/g)) {
    for (let row = y * SIDE; row < (Number(y) + 1) * SIDE; row++) {
      for (let column = x * SIDE; column < (Number(x) + Number(length)) * SIDE; column++) pixels.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  }
  return jsQR(pixels, width, width)?.data;
}
