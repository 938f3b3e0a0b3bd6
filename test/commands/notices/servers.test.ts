import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serversAt, splitWords, urlOf } from '../../../src/commands/notices/run.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import { type Folder, temporaryFolder } from '../../e2e/support/folder.js';

let folder: Folder;
let terminal: Terminal;

beforeAll(async () => {
  folder = await temporaryFolder();
  const { stdin, stdout, stderr } = process;
  const world = {
    stdin,
    stdout,
    stderr,
    env: {},
    afterDashes: null,
    hostsCode: () => {},
    interrupt: () => {},
  };
  terminal = { ...world, cwd: folder.path, home: '/nonexistent' };
  await mkdir(join(folder.path, '.infinity'));
});
afterAll(() => folder[Symbol.asyncDispose]());

async function configure(...sets: readonly object[]): Promise<void> {
  await writeFile(folder.file('.infinity/rap.json'), JSON.stringify({ tool_sets: sets }));
}

const server = (server_url: string) => ({ type: 'toolset_server', server_url });
const HEADER = { header: ['x-key: 1'] };

describe('words', () => {
  test('a URL comes first, then what is meant', () => {
    expect(splitWords([':3001/a', 'x', 'y'])).toEqual({ url: 'http://127.0.0.1:3001/a', rest: ['x', 'y'] });
    expect(splitWords(['x', 'y'])).toEqual({ url: null, rest: ['x', 'y'] });
    expect(() => urlOf('x')).toThrow('invalid URL: x');
  });
});

describe('servers', () => {
  test('threats, row 12: the one that is named, and what only its origin may see', async () => {
    const { servers } = await serversAt('http://tools.example/a/?b', HEADER, terminal);
    expect(servers).toEqual([
      {
        base: 'http://tools.example/a',
        credentials: { origin: 'http://tools.example', headers: { 'x-key': '1' } },
      },
    ]);
  });

  test('RT-NOTIFY: every one there is, each once; commands are not started', async () => {
    const command = { type: 'toolset_command', command: 'node \u001bx' };
    await configure(
      server('http://a.example/'),
      command,
      server('http://b.example'),
      server('http://a.example'),
    );
    const { servers, notes } = await serversAt(null, {}, terminal);
    expect(servers.map(({ base }) => base)).toEqual(['http://a.example', 'http://b.example']);
    expect(notes).toEqual([{ message: 'not notified: node ␛x (this command is not running)' }]);
  });

  test('headers are refused for several origins', async () => {
    await configure(server('http://a.example'), server('http://b.example'));
    await expect(serversAt(null, HEADER, terminal)).rejects.toThrow(/headers are for one/);
    await configure(server('http://a.example'), server('http://a.example/b'));
    expect((await serversAt(null, HEADER, terminal)).servers).toHaveLength(2);
  });

  test('commands alone take no notices', async () => {
    await configure({ type: 'toolset_command', command: 'node x' });
    await expect(serversAt(null, {}, terminal)).rejects.toThrow(/no configured server accepts notices/);
  });

  test('broken entries and MCP servers are named, the others are notified', async () => {
    const mcp = { type: 'http_mcp_server', name: 'web', url: 'http://m.example' };
    await configure(server('http://a.example'), { type: 'wurst' }, mcp);
    const { servers, notes } = await serversAt(null, {}, terminal);
    expect(servers.map(({ base }) => base)).toEqual(['http://a.example']);
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringContaining('unknown type "wurst"'),
      'not notified: web (MCP servers do not take notices)',
    ]);
  });

  test('without servers: the hint names only options of these commands', async () => {
    const nowhere = { ...terminal, cwd: '/nonexistent' };
    const failure = serversAt(null, {}, nowhere);
    await expect(failure).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringMatching(/^Give its URL/),
    });
    await expect(failure).rejects.toMatchObject({ hint: expect.not.stringContaining('--demo') });
  });
});
