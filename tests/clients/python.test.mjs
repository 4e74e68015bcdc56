// The official Python client and fastmcp.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEWEST, TOOLS, checkFound, program, run } from './program.mjs';

const running = program();

for (const [client, path, revision] of [
  ['session', 'mcp', '2025-11-25'],
  ['session', 'sse', '2025-11-25'],
  ['client', 'mcp', NEWEST],
  ['fastmcp', 'mcp', NEWEST],
  ['fastmcp', 'sse', '2025-11-25'],
]) {
  test(`python ${client} over /${path}`, { timeout: 60_000 }, async () => {
    const { stdout } = await run('venv/bin/python', ['client.py', client, path, running[path]]);
    const result = JSON.parse(stdout);
    assert.equal(result.revision, revision);
    assert.deepEqual(result.tools, TOOLS);
    checkFound({ content: [{ text: result.text }], structuredContent: result.structured });
    assert.match(result.no_such_atm, /^no Bitcoin ATM has the id 999999999/);
    assert.match(result.no_such_tool, /there is no tool "no_such_tool"/);
  });
}
