import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type InvokeOptions, planInvoke } from '../../../src/commands/invoke/plan.js';
import {
  curlOf,
  PLACEHOLDER_CALLBACK,
  placeholdersIn,
  requestText,
} from '../../../src/commands/invoke/request.js';
import { readMcpTarget } from '../../../src/commands/target.js';
import { troubleOf } from '../../support/failing.js';

const URL_GIVEN = 'http://127.0.0.1:3001';
const plan = (words: string[], options: Partial<InvokeOptions> = {}) =>
  planInvoke(words, {
    ...{ validate: true, timeout: 60_000, retries: 2, supports: new Set(['text']), given: [], color: true },
    ...{ callbackHost: '127.0.0.1', callbackPort: 0, maxBody: 1_000 },
    ...options,
  });

test.each<[string[], Partial<InvokeOptions>, object]>([
  [
    [URL_GIVEN, 'edit_file', 'a=1'],
    {},
    { target: { kind: 'url' }, operation: 'edit_file', words: { words: ['a=1'] } },
  ],
  [['edit_file', 'a=1'], {}, { target: null, operation: 'edit_file', words: { words: ['a=1'] } }],
  [[], { demo: true }, { operation: 'edit_file', words: { words: ['path=src/main.rs'] } }],
  [[], { demo: true, args: '{}' }, { operation: 'edit_file', words: { words: [], whole: '{}' } }],
  [[], { demo: true, interactive: true }, { operation: undefined }],
])('%j %j', (words, options, planned) => {
  expect(plan(words, options)).toMatchObject(planned);
});

test.each<[string[], Partial<InvokeOptions>, string]>([
  [[URL_GIVEN, ''], { endpoint: true }, 'usage: no operation given'],
  [[URL_GIVEN, 'x'], { id: '' }, 'usage: --id and --group-id cannot be empty'],
  [[URL_GIVEN, 'x'], { groupId: '' }, 'usage: --id and --group-id cannot be empty'],
  [[URL_GIVEN, 'x'], { concurrency: 2 }, 'usage: --concurrency needs --repeat <n>'],
  [[URL_GIVEN, 'x'], { repeat: 2, id: 'a' }, 'usage: --id and --repeat exclude each other'],
  [[URL_GIVEN, 'x'], { repeat: 2, follow: true }, 'usage: --follow and --repeat exclude each other'],
])('%j %j: %s', async (words, options, trouble) => {
  expect(await troubleOf(() => plan(words, options))).toBe(trouble);
});

test('RT-ID: new ids for each call', () => {
  const [one, two] = [plan([URL_GIVEN, 'x']).identity, plan([URL_GIVEN, 'x']).identity];
  expect(one).toMatchObject({ callId: null, isOurThread: true, ancestors: [] });
  expect(new Set([one.id, two.id, one.groupId, two.groupId]).size).toBe(4);
});

test.each([
  ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000/mcp'],
  [':3000/mcp', 'http://127.0.0.1:3000/mcp'],
  ['localhost/mcp', 'http://localhost/mcp'],
  ['node server.mjs', null],
  ['server.js', null],
  ['npx -y @scope/server', null],
])('--mcp %s is the URL %j', (value, url) => {
  expect(readMcpTarget(value, {})).toEqual(
    url === null ? { kind: 'stdio', name: value } : { kind: 'http', name: url },
  );
});

test.each([' ', 'ftp://host/mcp', 'http://user:pass@host/mcp'])('refuses --mcp "%s"', value => {
  expect(() => readMcpTarget(value, {})).toThrow();
});

const REQUEST = {
  method: 'POST',
  url: 'http://[::1]:3001/a{b}',
  headers: { 'content-type': 'application/json', authorization: '[redacted]' },
  body: { operation: 'echo', arguments: { text: "it's $HOME" } },
} as const;

test('a shell splits the curl line into the right words, and curl uses the URL unchanged', () => {
  const line = curlOf(REQUEST).replace(/^curl/, 'printf "%s\\n"');
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).trimEnd().split('\n')).toEqual([
    ...['--globoff', '-X', 'POST', REQUEST.url],
    ...['-H', 'content-type: application/json', '-H', 'authorization: [redacted]'],
    ...['-d', '{', '  "operation": "echo",', '  "arguments": {"text":"it\'s $HOME"}', '}'],
  ]);
});

test('on Windows the curl line is for cmd', () => {
  expect(curlOf(REQUEST, 'win32')).toBe(
    [
      'curl --globoff -X POST',
      '"http://[::1]:3001/a{b}"',
      '-H "content-type: application/json"',
      '-H "authorization: [redacted]"',
      '-d ^"{\\^"operation\\^": \\^"echo\\^", \\^"arguments\\^": {\\^"text\\^":\\^"it\'s $HOME\\^"}}^"',
    ].join(' ^\n  '),
  );
});

test('placeholders that the user fills in are named; a URL cannot control the terminal', () => {
  const body = { id: 'call_1', arguments: { key: '[redacted]' }, callback_url: PLACEHOLDER_CALLBACK };
  expect(placeholdersIn({ ...REQUEST, body })).toEqual(['arguments', 'callback_url', 'authorization']);
  expect(requestText({ ...REQUEST, url: 'http://a/\u001b[2J' })).not.toContain('\u001b');
});
