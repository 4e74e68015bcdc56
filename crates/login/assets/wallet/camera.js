// @ts-check
// Scans for a code with the camera. It uses the browser's decoder, or else loads the bundled decoder.

/** Maximum width of a picture for the decoder, in pixels: enough for the densest code of a page. */
const WIDEST = 960;
/** Pause between two pictures. */
const REST_MS = 100;

/** @typedef {(picture: HTMLCanvasElement) => Promise<string | null>} Decode */

/**
 * Shows the camera in `video` until `isCode` accepts a decoded text, or `stop` is aborted.
 * @param {HTMLVideoElement} video
 * @param {AbortSignal} stop
 * @param {(text: string) => boolean} isCode
 * @throws if there is no camera, or the user denies access
 */
export async function lookForCode(video, stop, isCode) {
  const [stream, decode] = await Promise.all([openCamera(), findDecoder()]);
  try {
    video.srcObject = stream;
    await video.play();
    const canvas = document.createElement('canvas');
    while (!stop.aborted) {
      const text = video.videoWidth > 0 ? await decode(draw(video, canvas)) : null;
      if (text !== null && !stop.aborted && isCode(text)) return;
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}

function openCamera() {
  const video = { facingMode: 'environment', width: { ideal: 1280 } };
  return navigator.mediaDevices.getUserMedia({ video, audio: false });
}

/** @param {HTMLVideoElement} video @param {HTMLCanvasElement} canvas */
function draw(video, canvas) {
  const scale = Math.min(1, WIDEST / video.videoWidth);
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  canvas.getContext('2d', { willReadFrequently: true })?.drawImage(video, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** @returns {Promise<Decode>} */
async function findDecoder() {
  const own = /** @type {any} */ (globalThis).BarcodeDetector;
  const formats = (await own?.getSupportedFormats?.().catch(() => [])) ?? [];
  if (formats.includes('qr_code')) {
    const detector = new own({ formats: ['qr_code'] });
    return async (canvas) => (await detector.detect(canvas))[0]?.rawValue ?? null;
  }
  const { decodeQR } = await import('./qr/decode.js');
  return async (canvas) => {
    const { width, height } = canvas;
    const picture = canvas.getContext('2d')?.getImageData(0, 0, width, height);
    try {
      return picture ? decodeQR(picture) : null;
    } catch {
      // It throws if the picture contains no code.
      return null;
    }
  };
}
