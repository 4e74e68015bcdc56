// Chromium's virtual authenticator (Web Authentication, 11).
import assert from 'node:assert/strict';

export class Authenticator {
  /** Adds an authenticator to a tab before its first navigation; it remains until the tab is closed. */
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

  /** Sets whether the user touches it when prompted. */
  touch(enabled) {
    return this.#set('WebAuthn.setAutomaticPresenceSimulation', { enabled });
  }

  /** Sets whether user verification succeeds. */
  verify(isUserVerified) {
    return this.#set('WebAuthn.setUserVerified', { isUserVerified });
  }

  /** Returns its stored passkeys. */
  async passkeys() {
    return (await this.#set('WebAuthn.getCredentials', {})).credentials;
  }

  /** Waits until this number of passkeys is stored; the browser updates it after the page. */
  async holds(count) {
    const deadline = Date.now() + 60_000;
    while ((await this.passkeys()).length !== count) assert.ok(Date.now() < deadline, `it does not have ${count} passkeys`);
  }

  /** Deletes a passkey, like a user in the device's settings. */
  forget({ credentialId }) {
    return this.#set('WebAuthn.removeCredential', { credentialId });
  }

  #set(method, more) {
    return this.channel.send(method, { authenticatorId: this.id, ...more });
  }
}
