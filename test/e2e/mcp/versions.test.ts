import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../support/in-process.js';
import { type McpServer, peerCommand, sdkPeerCommand, startMcpPeer, startSdkPeer } from '../support/mcp.js';
import { argv } from '../support/program.js';

let older: McpServer;
let blunt: McpServer;
let future: McpServer;
let both: McpServer;
beforeAll(async () => {
  [older, blunt, future, both] = await Promise.all([
    startMcpPeer('--older', '2025-11-25'),
    startMcpPeer('--older', '2025-11-25', '--blunt'),
    startMcpPeer('--older', '2031-01-01', '--blunt'),
    startSdkPeer('--both', '--annotated'),
  ]);
});
afterAll(() => Promise.all([older, blunt, future, both].map(each => each[Symbol.asyncDispose]())));

const invoke = (server: string, ...words: string[]) => runHere(argv`invoke --mcp ${server} ${words}`);

describe('the version that both sides support', () => {
  test.each([
    ['lists only an older version in server/discover', () => older.url],
    ['refuses the newest version with -32022', () => blunt.url],
  ])('a server that %s is called with initialize', async (_, url) => {
    const { status, stdout, stderr } = await invoke(url(), 'echo', 'text=hi', '-v');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'hi' });
    expect(stderr).toContain('"protocolVersion":"2025-11-25"');
    const listed = await runHere(argv`toolset --mcp ${url()}`);
    expect(listed).toMatchObject({ status: 0, stderr: '' });
  });

  test('a version that the server refuses and then names is tried again', async () => {
    await using server = await startSdkPeer('--refuses-first');
    expect(await invoke(server.url, 'echo', 'text=hi')).toMatchObject({ status: 0, stdout: 'hi' });
  });

  test('a server of the newest version alone that was slow to answer is asked again', async () => {
    await using server = await startSdkPeer('--ignores-first');
    expect(await invoke(server.url, 'echo', 'text=hi', '--timeout', '1m')).toMatchObject({
      status: 0,
      stdout: 'hi',
    });
  });

  test.each(['2025-06-18', '2026-07-28'])('--mcp-version %s is used, over HTTP and stdio', async version => {
    for (const server of [both.url, sdkPeerCommand('--both')]) {
      const { status, stderr } = await invoke(server, 'echo', 'text=hi', '-v', '--mcp-version', version);
      expect(status).toBe(0);
      expect(stderr).toMatch(
        new RegExp(`"(protocolVersion|io.modelcontextprotocol/protocolVersion)":"${version}"`),
      );
    }
  });

  test('without a common version, the error names the versions of both sides', async () => {
    const chosen = await invoke(older.url, 'echo', 'text=a', '--mcp-version', '2026-07-28');
    expect(chosen.status).toBe(4);
    expect(chosen.stderr).toMatch(/the server supports "?2025-11-25/);
    expect(chosen.stderr).toContain('--mcp-version');
    const none = await invoke(future.url, 'echo', 'text=a', '--mcp-version', '2026-07-28');
    expect(none.stderr).toMatch(/the server supports "?2031-01-01[\s\S]*protocol-cli supports 2026-07-28/);
  });

  test('a tool that cannot ask with the newest version: a warning names an older one, with which it can', async () => {
    const ask = (...words: string[]) => invoke(sdkPeerCommand('--both'), 'asks-itself', ...words);
    const newest = await ask('--mcp-version', '2026-07-28');
    expect(newest.status).toBe(5);
    expect(newest.stderr).toContain(
      'warning: the server cannot ask by itself with MCP 2026-07-28; try --mcp-version 2025-11-25',
    );
    const older = await ask('--mcp-version', '2025-11-25', '--choose', '{"name":"Ada"}');
    expect(older).toMatchObject({ status: 0, stdout: 'accept' });
    expect(older.stderr).not.toContain('cannot ask');
  });

  test('--mcp-version needs --mcp and a known version', async () => {
    const words = ['--mcp-version', '2025-06-18'];
    expect((await runHere(argv`invoke --demo ${words}`)).stderr).toContain('--mcp-version needs --mcp');
    expect((await runHere(argv`toolset --demo ${words}`)).stderr).toContain('--mcp-version needs --mcp');
    expect((await invoke(peerCommand(), 'echo', '--mcp-version', '2020-01-01')).status).toBe(2);
  });
});

describe('x-mcp-header', () => {
  test('annotated arguments are mirrored into headers: base64 if unsafe, none for null', async () => {
    const safe = await invoke(both.url, 'regional', 'region=eu-1', 'place:={"floor":3}');
    expect(JSON.parse(safe.stdout)).toEqual([
      ['mcp-param-floor', '3'],
      ['mcp-param-region', 'eu-1'],
    ]);
    const unsafe = await invoke(both.url, 'regional', 'region=Zürich', '--no-validate', 'place:=null');
    expect(JSON.parse(unsafe.stdout)).toEqual([['mcp-param-region', '=?base64?WsO8cmljaA==?=']]);
    const dry = await invoke(both.url, 'regional', 'region=eu-1', '--dry-run');
    expect(dry.stdout).toContain('Mcp-Param-Region: eu-1');
  });

  test('a tool with an invalid annotation is refused, by the version that has annotations', async () => {
    const { status, stderr } = await invoke(both.url, 'unreachable', 'n=1');
    expect(status).toBe(2);
    expect(stderr).toContain(
      'the tool "unreachable" cannot be used: $.n: x-mcp-header needs one of the types',
    );
    expect((await invoke(both.url, 'unreachable', 'n=1', '--mcp-version', '2025-11-25')).stdout).toBe(
      'called',
    );
  });
});
