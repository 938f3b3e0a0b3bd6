import { describe, expect, test } from 'vitest';
import { type AnswerFlags, planAnswer } from '../../../../src/commands/session/answer-plan.js';
import type { Terminal } from '../../../../src/commands/terminal.js';
import { errorOf } from '../../../support/failing.js';

const FLAGS: AnswerFlags = {
  wait: 0,
  tool: ':3001',
  timeout: 60_000,
  validate: true,
  retries: 2,
  callbackHost: '127.0.0.1',
  callbackPort: 0,
  maxBody: 1_000,
  supports: new Set(['text']),
  color: false,
};
const LOCAL: Partial<AnswerFlags> = { tool: undefined, fixtures: ['a.yaml'] } as Partial<AnswerFlags>;

interface Place {
  readonly env?: Terminal['env'];
  readonly isTTY?: boolean;
  readonly base?: string;
}

function plan(
  flags: Partial<AnswerFlags> = {},
  { env = { API_KEY: 'k' }, isTTY = false, base = ':3002' }: Place = {},
) {
  const stream = { isTTY, columns: 80, rows: 24 };
  const terminal = { env, stdin: stream, stdout: stream } as unknown as Terminal;
  return planAnswer([base, 's 1'], { ...FLAGS, ...flags }, terminal);
}

test('a platform on this machine may be given by its port', () => {
  expect(plan()).toMatchObject({ id: 's 1', url: 'http://127.0.0.1:3002/api/v2/sessions/s%201' });
});

test.each<[string, Partial<AnswerFlags>, object]>([
  ['a RAP tool', { tool: 'localhost:3001' }, { kind: 'tool', url: 'http://localhost:3001' }],
  ['fixtures', LOCAL, { kind: 'local', fixtures: ['a.yaml'], handlers: null }],
  [
    'handlers',
    { ...LOCAL, fixtures: [], handlers: 'a.mjs' },
    { kind: 'local', fixtures: [], handlers: 'a.mjs' },
  ],
  ['both', { ...LOCAL, handlers: 'a.mjs' }, { kind: 'local', fixtures: ['a.yaml'], handlers: 'a.mjs' }],
])('%s may answer', (_, flags, source) => expect(plan(flags).source).toEqual(source));

describe('the key', () => {
  test.each<[string, string | undefined, Terminal['env'], string]>([
    ['is that of --key', 'mine', { API_KEY: 'a' }, 'mine'],
    ['is read from the environment that --key names', 'env:MY_KEY', { API_KEY: 'a', MY_KEY: 'b' }, 'b'],
    ['is API_KEY', undefined, { API_KEY: 'a', HAI_API_KEY: 'b' }, 'a'],
    ['is HAI_API_KEY where that is empty', undefined, { API_KEY: '', HAI_API_KEY: 'b' }, 'b'],
  ])('%s', (_, key, env, expected) => {
    expect(plan(key === undefined ? {} : { key }, { env }).key).toBe(expected);
  });

  test.each<[string | undefined, RegExp]>([
    [undefined, /no API key/],
    ['', /no API key/],
    ['env:MY_KEY', /MY_KEY is not set/],
  ])('that is not there (--key %s) is a mistake', async (key, message) => {
    const error = await errorOf(() => plan(key === undefined ? {} : { key }, { env: {} }));
    expect(error).toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });
});

test.each<[Partial<AnswerFlags>, boolean, string]>([
  [{}, false, 'plain'],
  [{}, true, 'ui'],
  [{ output: 'json' }, true, 'json'],
  [{ output: 'ui' }, true, 'ui'],
])('%j on a terminal (%s) is told as %s', (flags, isTTY, output) => {
  expect(plan(flags, { isTTY }).output).toBe(output);
});

describe('what makes no sense', () => {
  test.each<[Partial<AnswerFlags>, RegExp]>([
    [{ output: 'ui' }, /-o ui needs a terminal/],
    [{ ...LOCAL, fixtures: [] }, /choose one of --tool/],
    [{ fixtures: ['a.yaml'] }, /exclude each other/],
    [{ handlers: 'a.mjs' }, /exclude each other/],
    [{ tool: 'lookup_order' }, /invalid URL of the tool: lookup_order/],
    [{ ...LOCAL, parseJson: true }, /--parse-json is for --tool/],
    [{ ...LOCAL, toolBearer: 'x' }, /--tool-bearer is for --tool/],
    [{ ...LOCAL, toolHeader: ['a: b'] }, /--tool-header is for --tool/],
    [{ ...LOCAL, callbackUrl: 'http://a' }, /--callback-url is for --tool/],
  ])('%j', async (flags, message) => {
    expect(await errorOf(() => plan(flags))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
  });

  test.each(['session_1', 'ftp://h', 'http://me:secret@h'])('a platform at %s', async base => {
    expect(await errorOf(() => plan({}, { base }))).toMatchObject({ code: 'usage' });
  });
});
