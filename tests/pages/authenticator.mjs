// The authenticator of a person's device, as Chromium plays one for tests (Web Authentication, 11).
import assert from 'node:assert/strict';

export class Authenticator {
  /** Puts one into a tab, before the tab goes anywhere; it stays for as long as the tab does. */
  static async plug(page) {
    const device = new Authenticator();
    device.channel = await page.context().newCDPSession(page);
    await device.channel.send('WebAuthn.enable', { enableUI: false });
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: false,
    };
    device.id = (await device.channel.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
    return device;
  }

  /** Whether its person touches it whenever it asks. */
  touch(enabled) {
    return this.#set('WebAuthn.setAutomaticPresenceSimulation', { enabled });
  }

  /** Whether its person's face, finger or number is the right one. */
  verify(isUserVerified) {
    return this.#set('WebAuthn.setUserVerified', { isUserVerified });
  }

  /** The passkeys that it keeps. */
  async passkeys() {
    return (await this.#set('WebAuthn.getCredentials', {})).credentials;
  }

  /** Returns when it keeps so many passkeys, which the browser tells it after the page. */
  async holds(count) {
    const deadline = Date.now() + 60_000;
    while ((await this.passkeys()).length !== count) assert.ok(Date.now() < deadline, `it does not keep ${count} passkeys`);
  }

  /** Forgets a passkey, as its person does in the settings of the device. */
  forget({ credentialId }) {
    return this.#set('WebAuthn.removeCredential', { credentialId });
  }

  #set(method, more) {
    return this.channel.send(method, { authenticatorId: this.id, ...more });
  }
}
