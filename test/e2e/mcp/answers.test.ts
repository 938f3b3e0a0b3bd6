import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../support/in-process.js';
import { type McpServer, peerCommand, startMcpPeer, startSdkPeer } from '../support/mcp.js';
import { argv } from '../support/program.js';

let http: McpServer;
beforeAll(async () => {
  http = await startMcpPeer();
});
afterAll(() => http[Symbol.asyncDispose]());

describe.each([
  ['stdio', () => peerCommand()],
  ['HTTP', () => http.url],
])('an answer over %s', (_, server) => {
  const invoke = (...words: string[]) => runHere(argv`invoke --mcp ${server()} ${words}`);

  test.each([
    ['null-meta', '$._meta: must be an object', '"_meta": null'],
    ['list-meta', '$._meta: must be an object', '"_meta": []'],
    ['text-result', '$: must be an object', 'done'],
    ['list-result', '$: must be an object', 'done'],
  ])('that is not a result of MCP is judged at once, and shown: %s', async (tool, fault, shown) => {
    const { status, stdout, stderr } = await invoke(tool, '-o', 'plain', '--timeout', '0');
    expect(status).toBe(5);
    expect(stdout).toContain(`the server's answer is not a CallToolResult: ${fault}`);
    expect(stdout).toContain(shown);
    expect(stdout + stderr).not.toMatch(/not a JSON-RPC message|could not be reached/);
  });
});

test('a result without resultType is complete, with a warning; over versions that do not have it without one', async () => {
  await using server = await startSdkPeer('--untyped', '--both');
  const invoke = (...words: string[]) => runHere(argv`invoke --mcp ${server.url} echo text=hi ${words}`);
  const newest = await invoke();
  expect(newest).toMatchObject({ status: 0, stdout: 'hi' });
  expect(newest.stderr).toContain('warning: a result has no resultType, which MCP 2026-07-28 requires');
  expect(await invoke('--mcp-version', '2025-11-25')).toMatchObject({ status: 0, stdout: 'hi', stderr: '' });
});

test('the data of a JSON-RPC error is in -o json, in the view and in the formats that have a place for it', async () => {
  const invoke = (...words: string[]) => runHere(argv`invoke --mcp ${http.url} ${words}`);
  const { stdout, stderr } = await invoke('refuses', '-o', 'json');
  expect(stderr).not.toContain('outputSchema');
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: { type: 'error', code: '-32001', data: { until: 'tomorrow' } },
  });
  expect((await invoke('refuses', '-o', 'plain')).stdout).toContain('"until": "tomorrow"');
  const lmkit = await invoke('refuses', '--dialect', 'lmkit', '-o', 'json');
  expect(JSON.parse(JSON.parse(lmkit.stdout).ResultJson)).toMatchObject({
    error: { data: { until: 'tomorrow' } },
  });
  const url = await invoke('needs-url');
  expect(url.stderr).toContain('https://login.example/a');
  const task = await invoke('needs-task');
  expect(task.stderr).toContain('the client capability extensions.io.modelcontextprotocol/tasks,');
});

test('a server that asks the user to open a page: the missing capability is named', async () => {
  const { status, stdout, stderr } = await runHere(argv`invoke --mcp ${peerCommand()} asks-url`);
  expect([status, stdout]).toEqual([0, expect.stringContaining('does not support URL-mode elicitation')]);
  expect(stderr).toContain('warning: the server needs the client capability elicitation.url, which');
});

test('a server that dies during a call: the connection was lost', async () => {
  const { status, stderr } = await runHere(argv`invoke --mcp ${peerCommand()} dies`);
  expect(status).toBe(4);
  expect(stderr).toMatch(
    /the connection was lost during tools\/call: the server ended with status 3[\s\S]*the peer falls over/,
  );
  expect(stderr).not.toContain('The command must write');
});

test('a connection that is reset during a call: the address is not wrong', async () => {
  const { status, stdout, stderr } = await runHere(argv`invoke --mcp ${http.url} resets`);
  expect(status).toBe(4);
  expect(stdout).toBe('Error: the tool accepted the connection and did not answer (ECONNRESET)');
  expect(stderr).toContain('the connection was lost during tools/call');
});

test.each([
  ['breaks-schema', 'structuredContent does not match the outputSchema: $.count must be integer'],
  ['misses-schema', 'the tool has an outputSchema, but its result has no structuredContent'],
])('a result that does not fit its outputSchema is a warning: %s', async (tool, warning) => {
  const { status, stderr } = await runHere(argv`invoke --mcp ${http.url} ${tool}`);
  expect(status).toBe(0);
  expect(stderr).toContain(`warning: ${warning}`);
});
