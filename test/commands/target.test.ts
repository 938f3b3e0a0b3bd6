import { describe, expect, test } from 'vitest';
import { readTarget, type TargetOptions } from '../../src/commands/target.js';
import { troubleOf } from '../support/failing.js';

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
    '%j is invalid',
    word => {
      expect(urlOf(word)).toBeNull();
    },
  );

  test.each([
    ['ftp://tools.example', 'usage: unsupported URL: ftp://tools.example; use http or https'],
    ['file:///etc/passwd', 'usage: unsupported URL: file:///etc/passwd; use http or https'],
    ['http://', 'usage: invalid URL: http://'],
    [':99999', 'usage: invalid URL: :99999'],
    ['http://a b', 'usage: invalid URL: http://a b'],
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
