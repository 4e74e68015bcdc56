// @ts-check
// Signals a removed passkey to the browser, so that it is no longer offered. Browsers without signals still offer it, but
// the server rejects it.

const removed = /** @type {HTMLElement | null} */ (document.querySelector('script[data-passkey]'));
const signals = /** @type {any} */ (globalThis.PublicKeyCredential);

if (removed && signals?.signalUnknownCredential) {
  const { rp, passkey } = removed.dataset;
  // The device may refuse, for example if the page has another host: nothing depends on the signal.
  signals.signalUnknownCredential({ rpId: rp, credentialId: passkey }).catch(() => {});
}
