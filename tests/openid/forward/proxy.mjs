// A real reverse proxy with a file of deploy/forward-auth, with other addresses and without TLS.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = (name) => new URL(`venv/${name}`, import.meta.url).pathname;

export const NGINX = program('debian/usr/sbin/nginx');
export const CADDIES = [
  { name: 'Caddy', path: program('bin/caddy') },
  { name: "Debian's Caddy", path: program('debian/usr/bin/caddy') },
];

/** Returns a file of deploy/forward-auth. */
export const file = (name) => readFileSync(new URL(`../../../deploy/forward-auth/${name}`, import.meta.url), 'utf8');

/** Replaces texts, which must be present. */
export function replace(text, changes) {
  return changes.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `${from} in ${text}`);
    return text.replaceAll(from, to);
  }, text);
}

/** Directives for nginx's files, in a separate folder. */
export function unlogged(folder) {
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  return `access_log off; ${kept.join(' ')}`;
}

const nginx = {
  name: 'nginx',
  kind: 'nginx',
  configure: (folder, { port, replaced }) => {
    return replace(file('nginx.conf'), [
      ...replaced,
      ['http {', `http { ${unlogged(folder)}`],
      ['listen 443 ssl;', `listen 127.0.0.1:${port};`],
      ['ssl_certificate /etc/ssl/app.example.com.pem;', ''],
      ['ssl_certificate_key /etc/ssl/app.example.com.key;', ''],
      ['server_name app.example.com;', 'server_name localhost;'],
    ]);
  },
  start: (folder) => [NGINX, ['-p', folder, '-c', join(folder, 'proxy.conf'), '-e', 'stderr', '-g', `daemon off; pid ${folder}/pid;`]],
};

/** nginx with TLS as in the file, with sites in front of it: `[port, upstream port]` each. */
export const nginxWithTls = (folder, sites) => ({
  ...nginx,
  name: 'nginx with TLS',
  configure: (run, { port, replaced }) => {
    const certificate = `ssl_certificate ${folder}/site.pem; ssl_certificate_key ${folder}/site.key;`;
    const site = ([port, upstream]) => `
      server {
        listen 127.0.0.1:${port} ssl;
        ${certificate}
        location / {
          proxy_pass http://127.0.0.1:${upstream};
          proxy_set_header Host $http_host;
          proxy_set_header X-Forwarded-Proto $scheme;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }
      }`;
    return replace(file('nginx.conf'), [
      ...replaced,
      ['http {', `http { ${unlogged(run)} ${sites.map(site).join('')}`],
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['/etc/ssl/app.example.com.pem', `${folder}/site.pem`],
      ['/etc/ssl/app.example.com.key', `${folder}/site.key`],
      ['server_name app.example.com;', 'server_name localhost;'],
    ]);
  },
});

const caddy = ({ name, path }) => ({
  name,
  kind: 'caddy',
  configure: (folder, { port, replaced }) =>
    replace(file('Caddyfile'), [
      ...replaced,
      ['\napp.example.com {', `\n{\n\tadmin off\n\tauto_https off\n\tskip_install_trust\n}\n\nhttp://localhost:${port} {\n\tbind 127.0.0.1`],
    ]),
  start: (folder) => [path, ['run', '--adapter', 'caddyfile', '--config', join(folder, 'proxy.conf')]],
});

export const PROXIES = [nginx, ...CADDIES.map(caddy)];

export class Proxy {
  output = '';

  /** Starts a proxy on a port; `configure` gets the client. */
  static async start(proxy, port, { client, signpost, application }) {
    const started = new Proxy();
    started.folder = mkdtempSync(join(tmpdir(), 'signpost-proxy-'));
    const replaced = [
      ['127.0.0.1:8080', `127.0.0.1:${signpost}`],
      ['127.0.0.1:8000', `127.0.0.1:${application}`],
      ['cli_REPLACE_ME', client],
    ];
    const [path, args] = proxy.start(started.folder);
    writeFileSync(join(started.folder, 'proxy.conf'), proxy.configure(started.folder, { port, replaced }));
    const env = { ...process.env, HOME: started.folder, XDG_DATA_HOME: started.folder, XDG_CONFIG_HOME: started.folder };
    started.child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.child.stdout, started.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (started.output += text));
    }
    await listens(port, started.child, () => started.output);
    return started;
  }

  async close() {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until a child process accepts connections on a port. Fails if it ends before; `output` is for the message. */
export async function listens(port, child, output) {
  const answers = () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(socket.destroy() && true)).once('error', () => resolve(false));
    });
  while (!(await answers())) {
    assert.ok(child.exitCode === null, `the program ended: ${output()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
