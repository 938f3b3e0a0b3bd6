import { describe, expect, test } from 'vitest';
import { readCredentials, readHeaders } from '../../src/commands/target.js';
import { secretsOf } from '../../src/util/credentials.js';
import { troubleOf } from '../support/failing.js';

const URL_GIVEN = 'http://tools.example:3001/a?b=c';
const read = (header: string[], bearer?: string, env: Record<string, string> = {}) =>
  readCredentials({ header, ...(bearer !== undefined && { bearer }) }, URL_GIVEN, env);

test('row 12: they are for the origin they were given for', () => {
  expect(read([]).origin).toBe('http://tools.example:3001');
});

describe('what is read', () => {
  test.each<[string[], string | undefined, Record<string, string>]>([
    [[], undefined, {}],
    [['X-Api-Key: 123'], undefined, { 'x-api-key': '123' }],
    [['a:1', 'b:  2  ', 'c:'], undefined, { a: '1', b: '2', c: '' }],
    [['x: a:b: c'], undefined, { x: 'a:b: c' }],
    [[], 'abc', { authorization: 'Bearer abc' }],
    [['Authorization: Basic eA=='], undefined, { authorization: 'Basic eA==' }],
    [[], 'env:TOKEN', { authorization: 'Bearer from-env' }],
    [['X-Api-Key: env:TOKEN'], undefined, { 'x-api-key': 'from-env' }],
  ])('%j, bearer %j', (header, bearer, headers) => {
    expect(read(header, bearer, { TOKEN: 'from-env' }).headers).toEqual(headers);
  });
});

describe('what is not', () => {
  test('the environment has no such variable, or it holds what no header can: its value is not repeated', async () => {
    expect(await troubleOf(() => read(['x: env:NONE']))).toBe(
      'usage: -H: the environment variable NONE is not set',
    );
    expect(await troubleOf(() => read(['x: env:BAD'], undefined, { BAD: 's3cret\nInjected: y' }))).toBe(
      'usage: -H: env:BAD contains characters that headers cannot have',
    );
  });

  test.each([
    'no colon',
    ': no name',
    'bad name: x',
    'x: line\nfeed',
    'x: line\r\nInjected: y',
    'x: \u0000',
    'ä: x',
    'x: 日本',
    '',
  ])('%j is not a header, and is not repeated in the message', async header => {
    expect(await troubleOf(() => read([header]))).toBe('usage: --header: expected "Name: value"');
  });

  test.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'Content-Type',
    'content-encoding',
    'Accept-Encoding',
  ])("%s is the connection's own", async name => {
    expect(await troubleOf(() => read([`${name}: x`]))).toBe(
      `usage: the header ${name} belongs to the connection and cannot be set`,
    );
  });

  test.each<Record<string, string>>([{}, { TOKEN: '' }])(
    'env:NAME where the environment is %j',
    async env => {
      expect(await troubleOf(() => read([], 'env:TOKEN', env))).toBe(
        'usage: --bearer: the environment variable TOKEN is not set',
      );
    },
  );
});

describe('row 25: what must never be written down', () => {
  test.each([
    [['X-Api-Key: k3y'], undefined, ['k3y']],
    [[], 'abc', ['Bearer abc', 'abc']],
    [[`authorization: Basic ${btoa('me:pass')}`], undefined, [btoa('me:pass'), 'me:pass', 'pass']],
    [['Cookie: theme=dark; sid="s3cr3t-sid"; t=abc123def=='], undefined, ['s3cr3t-sid', 'abc123def==']],
    [['Authorization: Digest username="mufasa-1", response="d1g3st-of-it"'], undefined, ['d1g3st-of-it']],
  ])('%j, bearer %j', (header, bearer, secrets) => {
    expect(secretsOf(read(header, bearer).headers)).toEqual(expect.arrayContaining(secrets));
  });
});

test('row 25: how a cookie is kept, and short words in it, are no secrets', () => {
  const kept = 'sid=s3cr3t-sid; Path=/somewhere; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; theme=dark';
  expect(secretsOf({ 'set-cookie': kept })).toEqual([kept, 's3cr3t-sid']);
});

test('options of another name are reported by that name', () => {
  const names = { header: '--tool-header', bearer: '--tool-bearer' };
  expect(() => readHeaders({ bearer: 'env:NONE' }, {}, names)).toThrow(
    '--tool-bearer: the environment variable NONE is not set',
  );
  expect(() => readHeaders({ header: ['x'] }, {}, names)).toThrow('--tool-header: expected "Name: value"');
});
