import { describe, expect, test } from 'vitest';
import { readHeaders } from '../../src/commands/headers.js';
import { readTarget, type TargetOptions } from '../../src/commands/target.js';
import { secretsOfHeaders } from '../../src/util/credentials.js';
import { troubleOf } from '../support/failing.js';

describe('a target', () => {
  test.each([
    ['https://tools.example/a?b=c', 'https://tools.example/a?b=c'],
    ['HTTP://Tools.Example', 'HTTP://Tools.Example'],
    ['localhost:3001/a', 'http://localhost:3001/a'],
    [':3001/tools', 'http://127.0.0.1:3001/tools'],
    ['tools.example', 'http://tools.example'],
    ['tools.example/a.json', 'http://tools.example/a.json'],
    ['http://server.py', 'http://server.py'],
    ['server.py:80', 'http://server.py:80'],
    ['my-host:80', 'http://my-host:80'],
    ['[::1]:3001', 'http://[::1]:3001'],
  ])('%s is a URL', (word, url) => {
    const { target, rest } = readTarget([word, 'edit_file', 'a=1'], {});
    expect([target, rest]).toEqual([{ kind: 'url', url }, ['edit_file', 'a=1']]);
  });

  test.each(['edit_file', 'path=a.txt', 'url=http://x', 'a:=1', '', 'x=tools.example:80'])(
    '%j is not a URL',
    word => {
      expect(readTarget([word], {}).target).toBeNull();
    },
  );

  test('a URL beside --command is that of its server', () => {
    const { target, rest } = readTarget([':3001', 'edit_file'], { command: 'node x', readyTimeout: 60_000 });
    const url = 'http://127.0.0.1:3001';
    expect(target).toEqual({ kind: 'command', command: 'node x', url, readyWithinMs: 60_000 });
    expect(rest).toEqual(['edit_file']);
  });

  test.each<[string[], TargetOptions, string]>([
    [[':99999'], {}, 'invalid URL: :99999'],
    [['http://a b'], {}, 'invalid URL: http://a b'],
    [['server.py'], {}, 'server.py is the name of a file, not the URL of a server'],
    [['toolset.json'], {}, 'toolset.json is the name of a file, not the URL of a server'],
    [['./run.ndjson', 'echo'], {}, './run.ndjson is the name of a file, not the URL of a server'],
    [[import.meta.filename], {}, `${import.meta.filename} is the name of a file, not the URL of a server`],
    [[import.meta.dirname], {}, `${import.meta.dirname} is a folder, not the URL of a server`],
    [['http://a/', 'x'], { readyTimeout: 1 }, '--ready-timeout needs --command'],
    [['x'], { command: 'x', endpoint: true }, '--endpoint needs the URL of the endpoint'],
  ])('%j %j: %s', async (words, options, trouble) => {
    expect(await troubleOf(() => readTarget(words, options))).toBe(`usage: ${trouble}`);
  });
});

describe('headers', () => {
  const read = (header: string[], bearer?: string, env: Record<string, string> = {}) => {
    const options = { header, ...(bearer !== undefined && { bearer }) };
    return readHeaders(options, env);
  };

  test.each<[string[], string | undefined, Record<string, string>]>([
    [['X-Api-Key: 123', 'b:  2  ', 'c:'], undefined, { 'x-api-key': '123', b: '2', c: '' }],
    [['x: a:b: c'], undefined, { x: 'a:b: c' }],
    [[], 'env:TOKEN', { authorization: 'Bearer from-env' }],
    [['X-Api-Key: env:TOKEN'], undefined, { 'x-api-key': 'from-env' }],
  ])('row 12: %j, bearer %j', (header, bearer, headers) => {
    expect(read(header, bearer, { TOKEN: 'from-env' })).toEqual(headers);
  });

  const BAD_VALUE = 'the value contains characters that headers cannot have, such as a line break';

  test.each<[string, string]>([
    ['x: env:NONE', '--header: the environment variable NONE is not set'],
    ['x: env:BAD', '--header: env:BAD contains characters that headers cannot have'],
    ['x: env:EMPTY', '--header: the environment variable EMPTY is not set'],
    ['Content-Type: x', 'the header Content-Type belongs to the connection and cannot be set'],
    ['no colon', '--header: expected "Name: value"'],
    ['', '--header: expected "Name: value"'],
    [': no name', '--header: the name before the colon is not valid'],
    ['bad name: x', '--header: the name before the colon is not valid'],
    ['ä: x', '--header: the name before the colon is not valid'],
    ['x: line\r\nInjected: y', `--header: ${BAD_VALUE}`],
    ['x: \u0000', `--header: ${BAD_VALUE}`],
  ])('%j: %s, without repeating the value', async (header, trouble) => {
    const env = { BAD: 's3cret\nInjected: y', EMPTY: '' };
    expect(await troubleOf(() => read([header], undefined, env))).toBe(`usage: ${trouble}`);
  });

  test.each(['', ' '])('an empty bearer token is refused: %j', async bearer => {
    expect(await troubleOf(() => read([], bearer))).toBe('usage: --bearer: the token is empty');
  });

  test.each([
    [['X-Api-Key: k3y'], undefined, ['k3y']],
    [[], 'abc', ['Bearer abc', 'abc']],
    [[`authorization: Basic ${btoa('me:pass')}`], undefined, [btoa('me:pass'), 'me:pass', 'pass']],
    [['Cookie: theme=dark; sid="s3cr3t-sid"; t=abc123def=='], undefined, ['s3cr3t-sid', 'abc123def==']],
    [['Authorization: Digest username="mufasa-1", response="d1g3st-of-it"'], undefined, ['d1g3st-of-it']],
  ])('row 25: %j, bearer %j contain secrets', (header, bearer, secrets) => {
    expect(secretsOfHeaders(read(header, bearer))).toEqual(expect.arrayContaining(secrets));
  });

  test('row 25: the attributes of a cookie, and short words in it, are not secrets', () => {
    const kept = 'sid=s3cr3t-sid; Path=/somewhere; Expires=Wed, 21 Oct 2026 07:28:00 GMT; theme=dark';
    expect(secretsOfHeaders({ 'set-cookie': kept })).toEqual([kept, 's3cr3t-sid']);
  });

  test('options with another name are reported by that name', () => {
    const names = { header: '--tool-header', bearer: '--tool-bearer' };
    expect(() => readHeaders({ bearer: 'env:NONE' }, {}, names)).toThrow('--tool-bearer: the environment');
    expect(() => readHeaders({ header: ['x'] }, {}, names)).toThrow('--tool-header: expected "Name: value"');
  });
});
