import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configuredTargets, readTarget, type TargetOptions } from '../../src/commands/target.js';
import { errorOf, troubleOf } from '../support/failing.js';

const urlOf = (word: string) => readTarget([word, 'edit_file'], {}).target;

describe('a URL, or what curl would take for one', () => {
  test.each([
    ['http://127.0.0.1:3001', 'http://127.0.0.1:3001'],
    ['https://tools.example/a?b=c', 'https://tools.example/a?b=c'],
    ['HTTP://Tools.Example', 'HTTP://Tools.Example'],
    ['localhost', 'http://localhost'],
    ['localhost:3001/a', 'http://localhost:3001/a'],
    [':3001', 'http://127.0.0.1:3001'],
    [':3001/tools', 'http://127.0.0.1:3001/tools'],
    ['127.0.0.1:3001', 'http://127.0.0.1:3001'],
    ['tools.example', 'http://tools.example'],
    ['tools.example/a', 'http://tools.example/a'],
    ['my-host:80', 'http://my-host:80'],
    ['[::1]:3001', 'http://[::1]:3001'],
  ])('%s', (word, url) => {
    expect(readTarget([word, 'edit_file', 'a=1'], {})).toEqual({
      target: { kind: 'url', url },
      rest: ['edit_file', 'a=1'],
    });
  });

  test.each(['edit_file', 'path=a.txt', 'url=http://x', 'a:=1', '', 'x=tools.example:80'])(
    '%j is none',
    word => {
      expect(urlOf(word)).toBeNull();
    },
  );

  test.each([
    ['ftp://tools.example', 'usage: ftp://tools.example is no http or https URL'],
    ['file:///etc/passwd', 'usage: file:///etc/passwd is no http or https URL'],
    ['http://', 'usage: http:// is no valid URL'],
    [':99999', 'usage: :99999 is no valid URL'],
    ['http://a b', 'usage: http://a b is no valid URL'],
  ])('%s is a wrong one', async (word, trouble) => {
    expect(await troubleOf(() => urlOf(word))).toBe(trouble);
  });
});

describe('--demo, --command and --endpoint', () => {
  const words = ['http://127.0.0.1:3001', 'edit_file'];
  test.each<[TargetOptions, object, string[]]>([
    [{ demo: true }, { kind: 'demo' }, ['edit_file']],
    [{ command: 'node x' }, { kind: 'command', command: 'node x' }, ['edit_file']],
    [{ endpoint: true }, { kind: 'endpoint', url: words[0] }, words],
  ])('%j', (options, target, given) => {
    expect(readTarget(given, options)).toEqual({ target, rest: ['edit_file'] });
  });

  test.each([
    [{ demo: true }, 'usage: --demo and a URL exclude each other'],
    [{ command: 'x' }, 'usage: --command and a URL exclude each other'],
  ])('%j leaves no place for a URL', async (options, trouble) => {
    expect(await troubleOf(() => readTarget(words, options))).toBe(trouble);
  });

  test.each<[TargetOptions, string]>([
    [{ demo: true, command: 'x' }, 'usage: --demo and --command exclude each other'],
    [{ demo: true, endpoint: true }, 'usage: --endpoint needs the URL of the endpoint'],
    [{ command: 'x', endpoint: true }, 'usage: --endpoint needs the URL of the endpoint'],
    [{ endpoint: true }, 'usage: --endpoint needs the URL of the endpoint first'],
  ])('%j does not go together', async (options, trouble) => {
    expect(await troubleOf(() => readTarget(['edit_file'], options))).toBe(trouble);
  });
});

describe('.infinity/rap.json', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'target-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function folder(name: string, content?: string): Promise<string> {
    const path = join(root, name);
    await mkdir(join(path, '.infinity'), { recursive: true });
    if (content !== undefined) await writeFile(join(path, '.infinity', 'rap.json'), content);
    return path;
  }
  const server = (server_url: string) => ({ tool_sets: [{ type: 'toolset_server', server_url }] });

  test('both kinds, in their order', async () => {
    const config = {
      tool_sets: [
        { type: 'toolset_server', server_url: 'http://127.0.0.1:3001' },
        { type: 'toolset_command', command: 'node server.mjs' },
      ],
    };
    expect(await configuredTargets([await folder('project', JSON.stringify(config))])).toEqual([
      { kind: 'url', url: 'http://127.0.0.1:3001' },
      { kind: 'command', command: 'node server.mjs' },
    ]);
  });

  test("the project's, else the home folder's", async () => {
    const home = await folder('home', JSON.stringify(server('http://home.example')));
    expect(await configuredTargets([await folder('empty'), home])).toMatchObject([
      { url: 'http://home.example' },
    ]);
    const project = await folder('project', JSON.stringify(server('http://project.example')));
    expect(await configuredTargets([project, home])).toMatchObject([{ url: 'http://project.example' }]);
  });

  test('none at all says what to give instead', async () => {
    const { code, message, hint } = await errorOf(async () => configuredTargets([await folder('empty')]));
    expect([code, message]).toEqual(['usage', 'no tool is named']);
    expect(hint).toMatch(/--command.*--demo/);
  });

  test.each([
    ['{\n  "tool_sets": [],,\n}', /^line 2, column 19: "," stands where a key is expected$/],
    ['{}', /^\$\.tool_sets: is required$/],
    ['{"tool_sets":[]}', /^\$\.tool_sets: must have at least 1 items?$/],
    [JSON.stringify(server('nowhere')), /^\$\.tool_sets\[0\]\.server_url: /],
    ['{"tool_sets":[{"type":"toolset_command","command":""}]}', /^\$\.tool_sets\[0\]\.command: /],
    [
      '{"tool_sets":[{"type":"other"}]}',
      /^\$\.tool_sets\[0\]\.type: must be "toolset_server" or "toolset_command"$/,
    ],
  ])('a broken one is told with its place: %s', async (content, fault) => {
    const error = await errorOf(async () => configuredTargets([await folder('project', content)]));
    expect(error).toMatchObject({ code: 'unreadable-file', faults: [expect.stringMatching(fault)] });
    expect(error.message).toMatch(/rap\.json is not valid$/);
  });
});
