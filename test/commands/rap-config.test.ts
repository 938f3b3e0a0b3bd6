import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readRapConfig } from '../../src/commands/rap-config.js';
import { errorOf } from '../support/failing.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rap-config-'));
});
afterEach(() => rm(root, { recursive: true }));

/** A folder with these entries, or with this text, in its `.infinity/rap.json`. */
async function folder(name: string, content: string | readonly unknown[]): Promise<string> {
  const path = join(root, name);
  const text = typeof content === 'string' ? content : JSON.stringify({ tool_sets: content, theme: 'dark' });
  await mkdir(join(path, '.infinity'), { recursive: true });
  await writeFile(join(path, '.infinity', 'rap.json'), text);
  return path;
}

const server = (server_url: string, id?: string) => ({ type: 'toolset_server', server_url, id });
const read = (cwd: string, home = join(root, 'no one')) => readRapConfig({ cwd, home });
const urlsOf = async (cwd: string, home?: string) =>
  (await read(cwd, home)).targets.map(target => (target.kind === 'url' ? target.url : target.kind));

test('reads all four types of entries, in order', async () => {
  const cwd = await folder('project', [
    server('http://127.0.0.1:3001'),
    { type: 'toolset_command', command: 'node server.mjs', crate_name: 'x', git: null },
    { type: 'mcp_server', name: 'files', command: ['npx', 'server files', '.'], env: { TOKEN: 's3cret' } },
    { type: 'http_mcp_server', name: 'web', url: 'http://127.0.0.1:1/mcp', headers: { 'x-key': '1' } },
  ]);
  expect(await read(cwd)).toEqual({
    warnings: [],
    emptyText: expect.stringContaining(join(cwd, '.infinity/rap.json')),
    targets: [
      { kind: 'url', url: 'http://127.0.0.1:3001' },
      { kind: 'command', command: 'node server.mjs', cwd: join(cwd, '.infinity') },
      {
        kind: 'mcp',
        name: 'files',
        server: {
          kind: 'stdio',
          name: "npx 'server files' .",
          words: ['npx', 'server files', '.'],
          env: { TOKEN: 's3cret' },
        },
      },
      {
        kind: 'mcp',
        name: 'web',
        server: { kind: 'http', name: 'http://127.0.0.1:1/mcp', headers: { 'x-key': '1' } },
      },
    ],
  });
});

describe('the project and the home folder are merged', () => {
  test('home entries follow, except those whose id the project has', async () => {
    const cwd = await folder('project', [server('http://project-a', 'a'), server('http://project-b')]);
    const home = await folder('home', [
      server('http://home-a', 'a'),
      server('http://home-c', 'c'),
      server('http://home-d'),
      server('http://project-b'),
    ]);
    expect(await urlsOf(cwd, home)).toEqual([
      'http://project-a',
      'http://project-b',
      'http://home-c',
      'http://home-d',
    ]);
  });
});

describe('unusable entries', () => {
  test.each([
    [{ type: 'wurst' }, /unknown type "wurst"; known types: toolset_server, .*http_mcp_server$/],
    [{ server_url: 'http://a' }, /no type; known types/],
    [{ type: 'toString' }, /unknown type "toString"/],
    [server('file:///etc/passwd'), /\$\.server_url: must be an http or https URL$/],
    [{ type: 'toolset_command', command: '' }, /\$\.command: must have at least 1 character/],
    [{ type: 'mcp_server', name: 'a', command: 'x' }, /\$\.command: must be an array$/],
    [{ type: 'http_mcp_server', url: 'http://a' }, /\$\.name: is required$/],
  ])('%j is one warning, and the others work', async (entry, reason) => {
    const { targets, warnings } = await read(await folder('project', [entry, server('http://b')]));
    expect(targets).toEqual([{ kind: 'url', url: 'http://b' }]);
    expect(warnings).toEqual([{ message: expect.stringMatching(reason) }]);
    expect(warnings[0]?.message).toMatch(/rap\.json: tool_sets\[0\] is ignored: /);
  });

  test.each([
    ['{\n  "tool_sets": [],,\n}', /^line 2, column 19: found "," where a key is expected$/],
    ['{}', /^\$\.tool_sets: is required$/],
  ])('a broken file is an error with its place: %s', async (content, fault) => {
    const error = await errorOf(async () => read(await folder('project', content)));
    expect(error).toMatchObject({ code: 'unreadable-file', faults: [expect.stringMatching(fault)] });
    expect(error.message).toMatch(/rap\.json is not valid$/);
  });
});
