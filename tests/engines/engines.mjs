// Starts Debian's Firefox and WebKitGTK without a display, each with an empty profile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { reservePort } from '../ports.mjs';
import { Driver, HttpTransport, MarionetteTransport } from './driver.mjs';

const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const WEBKIT_DRIVER = process.env.WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver';
const MINI_BROWSER = process.env.MINI_BROWSER ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

/** Settings of Firefox: no requests of its own, and positions from the test. */
const preferences = (port, position) => ({
  'marionette.port': port,
  'remote.log.level': 'Fatal',
  'app.update.disabledForTesting': true,
  'browser.aboutwelcome.enabled': false,
  'browser.cache.disk.enable': false,
  'browser.contentblocking.report.enabled': false,
  'browser.newtabpage.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.search.update': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'captivedetect.canonicalURL': '',
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.push.connection.enabled': false,
  'extensions.getAddons.cache.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'geo.prompt.testing': true,
  'geo.prompt.testing.allow': true,
  'geo.provider.network.url': `data:application/json,${JSON.stringify({ location: position, accuracy: 50 })}`,
  'intl.accept_languages': 'en-US',
  'media.gmp-manager.updateEnabled': false,
  // Authenticators of tests only (Firefox's own names).
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.dns.disablePrefetch': true,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.server': '',
});

/** Firefox with Marionette. */
export class Firefox extends Driver {
  name = 'Firefox';

  static async launch(position = { lat: 30.2672, lng: -97.7431 }) {
    const folder = mkdtempSync(join(tmpdir(), 'signpost-firefox-'));
    const port = await reservePort();
    const lines = Object.entries(preferences(port, position)).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(folder, 'user.js'), lines.join('\n'));
    const env = { ...process.env, HOME: folder, MOZ_HEADLESS: '1' };
    const child = spawn(FIREFOX, ['--marionette', '--remote-allow-system-access', '--profile', folder, '--no-remote', '--new-instance'], { env, stdio: 'ignore' });
    const transport = await whenListening(child, () => MarionetteTransport.open(port));
    const firefox = Object.assign(new Firefox(transport), { child, folder });
    await firefox.send('WebDriver:NewSession', {});
    return firefox;
  }

  /** Adds a virtual authenticator with user verification (Web Authentication, 11.2) to the window. */
  addAuthenticator() {
    return this.send('WebAuthn:AddVirtualAuthenticator', {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserConsenting: true,
      isUserVerified: true,
    });
  }

  /** Returns the errors in the consoles of pages since the last call. */
  async errors() {
    await this.send('Marionette:SetContext', { value: 'chrome' });
    try {
      return await this.run(CONSOLE_ERRORS);
    } finally {
      await this.send('Marionette:SetContext', { value: 'content' });
    }
  }

  async close() {
    await this.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
    this.transport.close();
    await end(this.child);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Reads Firefox's console service, which also has the violations of the Content Security Policy. */
const CONSOLE_ERRORS = `
  const messages = Services.console.getMessageArray();
  Services.console.reset();
  const errors = [];
  for (const message of messages) {
    if (!(message instanceof Ci.nsIScriptError) || message.flags & (Ci.nsIScriptError.warningFlag | Ci.nsIScriptError.infoFlag)) continue;
    if (/^https?:/.test(message.sourceName)) errors.push(message.errorMessage + ' ' + message.sourceName);
  }
  return errors;`;

/** WebKitGTK's MiniBrowser, in a virtual display. */
export class WebKit extends Driver {
  name = 'WebKit';

  static async launch() {
    const folder = mkdtempSync(join(tmpdir(), 'signpost-webkit-'));
    const display = await openDisplay();
    const port = await reservePort();
    // The sandbox of WebKitGTK needs namespaces, which containers refuse.
    const env = { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder, DISPLAY: display.name, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1', LIBGL_ALWAYS_SOFTWARE: '1', GSETTINGS_BACKEND: 'memory', NO_AT_BRIDGE: '1' };
    const child = spawn(WEBKIT_DRIVER, [`--port=${port}`, '--host=127.0.0.1'], { env, stdio: 'ignore' });
    const webkit = new WebKit(new HttpTransport(`http://127.0.0.1:${port}`));
    Object.assign(webkit, { child, folder, display });
    await whenListening(child, () => fetch(`http://127.0.0.1:${port}/status`));
    const options = { binary: MINI_BROWSER, args: ['--automation'] };
    await webkit.send('WebDriver:NewSession', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } });
    return webkit;
  }

  /** Returns nothing: under automation WebKitGTK does not report the console. */
  async errors() {
    return [];
  }

  async close() {
    await this.send('WebDriver:DeleteSession').catch(() => {});
    await Promise.all([end(this.child), end(this.display.child)]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Starts a virtual display with a free number. */
async function openDisplay() {
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const [number] = await once(createInterface({ input: child.stdio[3] }), 'line');
  return { child, name: `:${number}` };
}

/** Repeats a connection until the program listens; fails if it ends. */
async function whenListening(child, connect) {
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('the browser ended', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
