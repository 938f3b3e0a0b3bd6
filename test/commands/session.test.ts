import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type Surroundings, startCommandHere } from '../e2e/support/command-here.js';
import { eventually } from '../e2e/support/eventually.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { KEY, pendingCall } from '../e2e/support/session-answer.js';
import { startPlatform } from '../e2e/support/session-platform.js';

const FIXTURES = `
version: 1
toolset:
  name: files
  description: Files
  tools:
    - { name: delete_all, description: Deletes, inputSchema: { type: object }, annotations: { destructive: true } }
fixtures:
  - { match: { operation: delete_all }, reply: { payload: deleted } }
`;

/** A user at a terminal who types these lines; stdout is a pipe. */
function personWho(lines: string): Surroundings & { readonly shown: () => string } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough().resume(), new PassThrough()];
  const chunks: string[] = [];
  stderr.on('data', chunk => chunks.push(String(chunk)));
  stdin.end(lines);
  const ends = { stdin: Object.assign(stdin, { isTTY: true }), stdout, stderr };
  Object.assign(stderr, { isTTY: true });
  return {
    ...(ends as unknown as Pick<Surroundings, keyof typeof ends>),
    ...{ env: { API_KEY: KEY }, cwd: '/', shown: () => chunks.join('') },
  };
}

test('row 25: the user is asked about one call at a time, and the key that a platform repeats is redacted', async () => {
  await using folder = await temporaryFolder();
  const calls = [pendingCall('delete_all', { key: KEY }, 'a'), pendingCall('delete_all', {}, 'b')];
  await using platform = await startPlatform({ key: KEY, rounds: [{ calls }], end: { answer: 'done' } });
  const person = personWho('y\n');
  const fixtures = await folder.write('fixtures.yaml', FIXTURES);
  const words = ['session', 'answer', platform.url, 'session_1', '--fixtures', fixtures, '-o', 'plain', '-q'];
  expect(await startCommandHere(words, person).status).toBe(0);
  expect((await platform.session()).settled).toMatchObject([
    { kind: 'tool_result', result: 'deleted' },
    { kind: 'error_event', error: expect.stringContaining('the user said no') },
  ]);
  expect(person.shown()).toContain('delete_all({"key":"[redacted]"}) is marked destructive');
  expect(person.shown()).not.toContain(KEY);
});

describe('session mock on a terminal prints how to answer its calls', () => {
  test.each([
    [
      'a random key',
      [],
      {},
      /key (\S{32})\nanswer its calls: protocol-cli session answer (http\S+) 00000000-0000-4000-8000-000000000001 --key \1 --fixtures <file>\n/,
    ],
    [
      'a given key',
      ['--key', KEY],
      {},
      /00000000-0000-4000-8000-000000000001\nanswer its calls: .* 00000000-0000-4000-8000-000000000001 --key <key> --fixtures <file>\n/,
    ],
    [
      'a key of the environment',
      [],
      { API_KEY: KEY },
      /00000000-0000-4000-8000-000000000001\nanswer its calls: .* 00000000-0000-4000-8000-000000000001 --fixtures <file>\n/,
    ],
  ])('%s', async (_, options, env, printed) => {
    const person = personWho('');
    Object.assign(person.stdout, { isTTY: true });
    const { status, signal } = startCommandHere(['session', 'mock', '-o', 'plain', ...options], {
      ...person,
      env,
    });
    await eventually('the start lines', () => printed.test(person.shown()));
    signal('SIGINT');
    expect(await status).toBe(0);
    expect(person.shown()).not.toContain(KEY);
  });
});
