// The protocol's conformance suite: all of it against the example server with its fixtures, and the parts without fixtures
// against the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NEWEST, end, firstLine, program, run } from './program.mjs';

const SUITE = new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url).pathname;
const timeout = 120_000;
/** A violation of a MUST is a failure, of a SHOULD a warning. */
const BAD = ['FAILURE', 'WARNING'];
const running = program();
const everything = {};
// The suite itself connects to `localhost`, and checks that this host is allowed.
const local = (address) => address.replace('127.0.0.1', 'localhost');

before(async () => {
  everything.child = spawn(process.env.EVERYTHING, [], { stdio: ['ignore', 'pipe', 'inherit'] });
  everything.mcp = await firstLine(everything.child);
});
after(() => end(everything.child));

/** Runs a part of the suite; returns the checks with these results, as `scenario check`. */
async function checks(ends, ...asked) {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    // It exits with 1 after unexpected failures; they are listed in its files.
    await run(process.execPath, [SUITE, 'server', '-o', folder, ...asked]).catch((ended) => {
      if (ended.code !== 1) throw ended;
    });
    const scenarios = readdirSync(folder);
    assert.ok(scenarios.length > 0, 'nothing ran');
    return scenarios.flatMap((name) => {
      const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
      const ended = JSON.parse(readFileSync(join(folder, name, 'checks.json')));
      return ended.filter((check) => ends.includes(check.status)).map((check) => `${scenario} ${check.id}`);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test(`the example server passes ${NEWEST}`, { timeout }, async () => {
  const failed = await checks(BAD, '--url', local(everything.mcp), '--requirements', NEWEST);
  // An extension that is optional in the specification and not used here.
  assert.deepEqual(failed.filter((check) => !check.startsWith('tasks-') && check !== PING_ANSWERED), []);
});

test('the example server passes 2025-11-25 without sessions', { timeout }, async () => {
  // The server sends the client a request during a call, and the answer arrives in another request: only a session connects
  // the two. Since 2026-07-28, the client sends its answer with the call.
  const needASession = ['elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'tools-call-elicitation', 'tools-call-sampling'];
  const failed = await checks(['FAILURE'], '--url', local(everything.mcp), '--requirements', '2025-11-25');
  assert.deepEqual([...new Set(failed.map((check) => check.split(' ')[0]))].sort(), needASession);
});

for (const [revision, scenarios] of [
  ['2025-11-25', ['server-initialize', 'server-session-lifecycle', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection']],
  [NEWEST, ['tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection', 'caching', 'http-header-validation', 'sep-2164-resource-not-found', 'server-stateless']],
]) {
  for (const scenario of scenarios) {
    test(`the program passes ${scenario} of ${revision}`, { timeout }, async () => {
      const failed = await checks(BAD, '--url', local(running.mcp), '--scenario', scenario, '--spec-version', revision);
      assert.deepEqual(failed.filter((check) => !NEED_FIXTURES.includes(check) && check !== PING_ANSWERED), []);
    });
  }
}

/**
 * The revision 2026-07-28 has no ping any more. Monitoring tools still send it, so the method is answered at every
 * revision.
 */
const PING_ANSWERED = 'server-stateless sep-2575-http-server-method-not-found-404-ping';

/** Checks that call a tool of a test server. */
const NEED_FIXTURES = [
  'server-stateless sep-2575-server-rejects-undeclared-capability',
  'server-stateless sep-2575-missing-capability-http-400',
  'server-stateless sep-2575-http-server-no-independent-requests-on-stream',
  'server-stateless sep-2575-server-no-log-without-loglevel',
];
