// @ts-check
// Tells the browser of a passkey that was removed from an account, so that it is offered no more. Browsers that know no
// signals go on offering it; it lets nobody in.

const removed = /** @type {HTMLElement | null} */ (document.querySelector('script[data-passkey]'));
const signals = /** @type {any} */ (globalThis.PublicKeyCredential);

if (removed && signals?.signalUnknownCredential) {
  const { rp, passkey } = removed.dataset;
  // The device may refuse, for example where another host's page asks: nothing depends on it.
  signals.signalUnknownCredential({ rpId: rp, credentialId: passkey }).catch(() => {});
}
