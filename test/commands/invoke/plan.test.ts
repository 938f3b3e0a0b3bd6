import { describe, expect, test } from 'vitest';
import { type InvokeOptions, planInvoke } from '../../../src/commands/invoke/plan.js';
import { troubleOf } from '../../support/failing.js';

const OPTIONS: InvokeOptions = {
  header: [],
  validate: true,
  ancestor: [],
  timeout: 60_000,
  retries: 2,
  linger: 0,
  callbackHost: '127.0.0.1',
  callbackPort: 0,
  allowHost: [],
  maxBody: 1_000,
  supports: new Set(['text']),
  given: [],
  color: true,
};
const URL_GIVEN = 'http://127.0.0.1:3001';
const plan = (words: string[], options: Partial<InvokeOptions> = {}) =>
  planInvoke(words, { ...OPTIONS, ...options });

describe('target, operation, arguments', () => {
  test.each<[string[], Partial<InvokeOptions>, object]>([
    [
      [URL_GIVEN, 'edit_file', 'a=1', 'b=2'],
      {},
      { target: { kind: 'url', url: URL_GIVEN }, operation: 'edit_file', words: { words: ['a=1', 'b=2'] } },
    ],
    [['edit_file', 'a=1'], {}, { target: null, operation: 'edit_file', words: { words: ['a=1'] } }],
    [[], {}, { target: null, operation: undefined }],
    [[], { demo: true }, { operation: 'edit_file', words: { words: ['path=src/main.rs'] } }],
    [[], { demo: true, args: '{}' }, { operation: 'edit_file', words: { words: [], whole: '{}' } }],
    [['deploy'], { demo: true }, { operation: 'deploy', words: { words: [] } }],
    [
      ['x'],
      { command: 'node s.mjs' },
      { target: { kind: 'command', command: 'node s.mjs' }, operation: 'x' },
    ],
    [[URL_GIVEN, 'x'], { endpoint: true }, { target: { kind: 'endpoint', url: URL_GIVEN }, operation: 'x' }],
    [[URL_GIVEN], {}, { target: { kind: 'url', url: URL_GIVEN }, operation: undefined }],
  ])('%j %j', (words, options, planned) => {
    expect(plan(words, options)).toMatchObject(planned);
  });

  test.each<[string[], Partial<InvokeOptions>, string]>([
    [[URL_GIVEN], { endpoint: true }, 'usage: no operation given'],
    [[URL_GIVEN, 'path=a'], {}, 'usage: no operation given: "path=a" is an argument'],
    [['path=a'], { demo: true }, 'usage: no operation given: "path=a" is an argument'],
    [[URL_GIVEN, ''], { endpoint: true }, 'usage: no operation given'],
  ])('%j %j: %s', async (words, options, trouble) => {
    expect(await troubleOf(() => plan(words, options))).toBe(trouble);
  });
});

describe('identity', () => {
  test('RT-ID: fresh ids, of a thread of our own', () => {
    const [one, two] = [plan([URL_GIVEN, 'x']).identity, plan([URL_GIVEN, 'x']).identity];
    expect(one).toMatchObject({ callId: null, isOurThread: true, ancestors: [] });
    expect(one.id).toMatch(/^call_/);
    expect(one.groupId).toMatch(/^thread_/);
    expect(new Set([one.id, two.id, one.groupId, two.groupId]).size).toBe(4);
  });

  test("someone's own; their thread is not ours to close", () => {
    const options = { id: 'i', callId: 'c', groupId: 'g', userId: 'u', ancestor: ['root', 'parent'] };
    expect(plan([URL_GIVEN, 'x'], options).identity).toEqual({
      id: 'i',
      callId: 'c',
      groupId: 'g',
      isOurThread: false,
      userId: 'u',
      ancestors: ['root', 'parent'],
    });
  });

  test.each([{ id: '' }, { groupId: '' }])('%j would wait for ever, and is refused', async options => {
    expect(await troubleOf(() => plan([URL_GIVEN, 'x'], options))).toMatch(/^usage: /);
  });
});

describe('--callback-url', () => {
  test('is what the listener calls itself', () => {
    const callbackUrl = 'https://tunnel.example.com';
    expect(plan([URL_GIVEN, 'x'], { callbackUrl }).listener.publicUrl).toBe(callbackUrl);
  });

  test('without it none exists', () => {
    expect(plan([URL_GIVEN, 'x']).listener).toEqual({
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      maxBody: 1_000,
    });
  });
});

describe('many calls', () => {
  test.each<[Partial<InvokeOptions>, string]>([
    [{ concurrency: 2 }, 'usage: --concurrency needs --repeat <n>'],
    [{ repeat: 2, id: 'a' }, 'usage: --id and --repeat exclude each other'],
    [{ repeat: 2, follow: true }, 'usage: --follow and --repeat exclude each other'],
    [{ repeat: 2, linger: 5 }, 'usage: --linger and --repeat exclude each other'],
  ])('%j', async (options, trouble) => {
    expect(await troubleOf(async () => plan([URL_GIVEN, 'x'], options))).toBe(trouble);
  });
});
