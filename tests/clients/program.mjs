// The program under test, and the checks for every client.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { promisify } from 'node:util';

/** The tools, as listed in a test of the server. */
const LISTED = new URL('../../crates/signpost/tests/it/listed.json', import.meta.url);
export const TOOLS = JSON.parse(readFileSync(LISTED)).map((tool) => tool.name);
export const NEWEST = '2026-07-28';
export const run = promisify(execFile);

/** The default rate limit of messages. */
export const DEFAULT_LIMIT = '10/s';

/** Starts `signpost serve` for the tests of a file; its addresses and a folder are set once the tests run. */
export function program(limit = 'off') {
  const running = { folder: mkdtempSync(join(tmpdir(), 'signpost-')) };
  let child;
  before(async () => {
    const args = ['serve', '--json', '--listen', '127.0.0.1:0', '--data-dir', join(running.folder, 'data'), '--services', 'atm'];
    const env = { ...process.env, SIGNPOST_RATE_LIMIT_MCP: limit, SIGNPOST_RATE_LIMIT_SSE: 'off' };
    child = spawn(process.env.SIGNPOST, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    Object.assign(running, JSON.parse(await firstLine(child)));
  });
  after(async () => {
    await end(child);
    rmSync(running.folder, { recursive: true });
  });
  return running;
}

/** Returns a program's first line of output. */
export function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.split('\n')[0]);
    });
  });
}

/** Terminates a program, and waits for its end. */
export async function end(child) {
  child.removeAllListeners('exit');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Checks the result of a search. */
export function checkFound(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  assert.equal(result.structuredContent.atms.length, 3);
  assert.match(result.structuredContent.notice, /sample/i);
}

/** Uses everything that the server offers, with a connected official TypeScript client. */
export async function useEverything(client, mode = 'remote') {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  assert.ok(!JSON.stringify(tools).includes('uint64'));
  const call = (name, args) => client.callTool({ name, arguments: args });
  // The client checks each structured result against the tool's output schema.
  const found = await call('find_nearest_bitcoin_atm', { location: 'Miami, FL', limit: 3 });
  checkFound(found);
  const { id } = found.structuredContent.atms[0];
  const details = await call('get_atm_details', { atmId: id });
  assert.equal(details.structuredContent.id, id);
  assert.ok((await call('check_atm_status', { location: 'Austin, TX' })).structuredContent.counts);
  assert.ok((await call('list_atms_by_city', { state: 'TX', city: 'Austin' })).structuredContent.total >= 3);
  assert.equal((await call('get_atm_details', { atmId: 999999999 })).isError, true);
  await assert.rejects(call('no_such_tool', {}), { code: -32602 });

  const read = async (uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);
  assert.deepEqual((await client.listResources()).resources.map((resource) => resource.uri), ['signpost://coverage', 'ui://signpost/atms-v1.html']);
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
  const coverage = await read('signpost://coverage');
  assert.ok(coverage.machines > 100);
  assert.equal(coverage.server.mode, mode);
  assert.deepEqual(await read(`atm://${id}`), details.structuredContent);
  assert.equal((await client.listPrompts()).prompts.length, 3);
  const prompt = await client.getPrompt({ name: 'find_atm_near_me', arguments: { location: 'Miami' } });
  assert.match(prompt.messages[0].content.text, /Miami/);
  const ref = { type: 'ref/prompt', name: 'find_atm_near_me' };
  const completed = await client.complete({ ref, argument: { name: 'location', value: 'mia' } });
  assert.deepEqual(completed.completion.values, ['Miami, FL']);
}
