import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../support/in-process.js';
import { type McpServer, sdkPeerCommand, startSdkPeer } from '../support/mcp.js';

let newest: McpServer;
let both: McpServer;
beforeAll(async () => {
  [newest, both] = await Promise.all([startSdkPeer(), startSdkPeer('--both')]);
});
afterAll(() => Promise.all([newest, both].map(each => each[Symbol.asyncDispose]())));

describe.each([
  ['only the newest version, over stdio', () => sdkPeerCommand()],
  ['only the newest version, over HTTP', () => newest.url],
  ['both versions, over stdio', () => sdkPeerCommand('--both')],
  ['both versions, over HTTP', () => both.url],
])('an SDK server that speaks %s', (_, server) => {
  const invoke = (...words: string[]) => runHere(['invoke', '--mcp', server(), ...words]);

  test('is called', async () => {
    expect(await invoke('echo', 'text=hi')).toMatchObject({ status: 0, stdout: 'hi', stderr: '' });
  });

  test('lists its tools', async () => {
    const { status, stdout, stderr } = await runHere(['toolset', '--mcp', server()]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^sdk-peer\n.*endpoint/);
    expect(stdout).toContain('  text  required  string');
    const json = await runHere(['toolset', '--mcp', server(), '-o', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'sdk-peer',
      tools: [{ name: 'echo' }, {}, {}, {}, {}],
    });
  });
});

test('toolset --mcp is for one server, and a command gets no headers', async () => {
  const both = await runHere(['toolset', 'http://127.0.0.1:1', '--mcp', 'true']);
  expect(both).toMatchObject({ status: 2, stderr: expect.stringContaining('--mcp and http://127.0.0.1:1') });
  const headers = await runHere(['toolset', '--mcp', 'true', '--bearer', 'x']);
  expect(headers).toMatchObject({ status: 2, stderr: expect.stringContaining('gets no --bearer') });
});
