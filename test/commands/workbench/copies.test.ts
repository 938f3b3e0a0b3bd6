import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readArguments } from '../../../src/commands/invoke/arguments.js';
import { copiesOf } from '../../../src/commands/workbench/copies.js';
import { CallLog } from '../../../src/events/call-log.js';
import type { Event, RequestEvent } from '../../../src/events/events.js';
import type { Invocation } from '../../../src/protocol/invocation.js';
import { parseJson } from '../../../src/util/json.js';
import { createRedactor } from '../../../src/util/redact.js';
import { isRecord } from '../../../src/util/values.js';
import { call, eventsOf, INVOCATION, KEY } from '../../events/build.js';
import { anyCodePoint } from '../../support/characters.js';

type CalledAs = NonNullable<Parameters<typeof copiesOf>[2]>;

type Fields = Partial<Pick<Invocation, 'operation' | 'arguments' | 'user_id' | 'thread_ancestors'>>;

/** Copies a call with these fields and settings. */
async function copied(fields: Fields, as: Partial<CalledAs> = {}, headers: Record<string, string> = {}) {
  const callLog = new CallLog();
  const invocation = { ...INVOCATION, operation: 'edit_file', arguments: {}, ...fields };
  for (const event of eventsOf(call({ invocation }))) callLog.apply({ ...event, headers } as Event);
  const source = { id: 0, name: '', callLog, isLive: true, redactor: createRedactor() };
  const target = { kind: 'url', url: 'http://127.0.0.1:3001' } as const;
  const copies = copiesOf(source, KEY, { target, groupId: undefined, validates: true, ...as });
  return copies?.command().text ?? '';
}

/** Returns the words that a shell parses. */
function wordsOf(line: string): string[] {
  const script = line.replace(/^protocol-cli invoke/, 'printf "%s\\0"');
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const WHY = 'no line of this program is the same call: ';

test.each<[string, Parameters<typeof copied>, string]>([
  ['plain', [{ arguments: { path: 'a.txt' } }], 'http://127.0.0.1:3001 edit_file path=a.txt'],
  ['a space', [{ arguments: { path: "it's a" } }], `http://127.0.0.1:3001 edit_file 'path=it'\\''s a'`],
  ['a number', [{ arguments: { n: 7 } }], 'http://127.0.0.1:3001 edit_file n:=7'],
  ['no number', [{ arguments: { n: '7' } }], `http://127.0.0.1:3001 edit_file 'n:="7"'`],
  ['no file', [{ arguments: { n: '@a' } }], `http://127.0.0.1:3001 edit_file 'n:="@a"'`],
  ['unseen', [{ arguments: { n: '\u001b' } }], `http://127.0.0.1:3001 edit_file 'n:="\\u001b"'`],
  ['a strange key', [{ arguments: { 'a=b': 1 } }], `--args '{"a=b":1}' http://127.0.0.1:3001 edit_file`],
  ['a dash', [{ arguments: { '-n': 'x' } }], '-- http://127.0.0.1:3001 edit_file -n=x'],
  ['what breaks its schema', [{}, { validates: false }], '--no-validate http://127.0.0.1:3001 edit_file'],
  [
    'row 19: a key that is a prototype',
    [{ arguments: JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}') }],
    `http://127.0.0.1:3001 edit_file '__proto__:={"a":1}' 'b:={"__proto__":2}'`,
  ],
  ['the demo', [{}, { target: { kind: 'demo' } }], '--demo edit_file'],
  ['a command', [{}, { target: { kind: 'command', command: 'node x' } }], "--command 'node x' edit_file"],
  [
    'an endpoint',
    [{}, { target: { kind: 'endpoint', url: 'http://a/b' } }],
    '--endpoint http://a/b edit_file',
  ],
  [
    'identity and credentials',
    [{ user_id: 'u 1', thread_ancestors: ['a', 'b'] }, { groupId: 't' }, { authorization: 'x' }],
    "-H 'authorization: [redacted]' --user-id 'u 1' --group-id t --ancestor a --ancestor b http://127.0.0.1:3001 edit_file",
  ],
])('%s', async (_, made, line) => {
  expect(await copied(...made)).toBe(`protocol-cli invoke ${line}`);
});

const inexact = parseJson('{"n":9007199254740993}');
const INEXACT = inexact.ok && isRecord(inexact.value) ? inexact.value : {};

test.each<[string, Fields, RegExp]>([
  [
    'a number without an exact representation',
    { arguments: INEXACT },
    /in its arguments the number 9007199254740993 cannot/,
  ],
  ['an operation that looks like an argument', { operation: 'a=b' }, /its operation would be read as/],
  ['an operation with control characters', { operation: '\u001b[2J' }, /not seen$/],
  ['an ancestor with control characters', { thread_ancestors: ['\u0007'] }, /not seen$/],
])('%s has no command line, and the reason is given', async (_, fields, why) => {
  const text = await copied(fields);
  expect(text.startsWith(WHY)).toBe(true);
  expect(text).toMatch(why);
});

const KEYS = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom('a:', '=', '-x', '__proto__'),
);

// an invocation cannot contain these
const TEXTS = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom('true', '1', 'null', '[]', '@file', "'", '$(id)', '`id`', '!', '\n', '\0', '"', '~'),
);

const ARGUMENTS = fc.dictionary(KEYS, fc.oneof(TEXTS, fc.jsonValue({ maxDepth: 3 })), {
  noNullPrototype: true,
});

const TYPES = fc.dictionary(fc.string(), fc.constantFrom('string', 'integer', 'boolean', 'array', 'null'));

test('a shell and our own parser produce the same arguments, whatever the schema, and nothing is executed', async () => {
  const property = fc.asyncProperty(ARGUMENTS, TYPES, async (raw, types) => {
    const args = JSON.parse(JSON.stringify(raw)) as Record<string, unknown>;
    const line = await copied({ arguments: args });
    const reading = parseJson(JSON.stringify(args));
    const isExact = reading.ok && reading.notes.length === 0;
    expect(line.startsWith(WHY)).toBe(!isExact);
    if (!isExact) return;
    expect(line).not.toMatch(/\p{Cc}|\p{Cf}/u);
    const words = wordsOf(line);
    const whole = words[0] === '--args' ? words[1] : undefined;
    const given = words.slice(words.indexOf('edit_file') + 1);
    const properties = Object.fromEntries(
      Object.keys(args).map((key, at) => [key, { type: [Object.values(types)[at] ?? 'integer', 'string'] }]),
    );
    const read = await readArguments({ words: given, ...(whole !== undefined && { whole }) }, nothing());
    expect(JSON.stringify(read({ properties }))).toBe(JSON.stringify(args));
  });
  await fc.assert(property, { numRuns: 25 });
});

/** Returns the copy of the call of these requests; null without one. */
function copyOf(...requests: readonly Partial<RequestEvent>[]) {
  const callLog = new CallLog({ observer: 'tool', isSaved: true });
  for (const [index, fields] of requests.entries())
    for (const event of eventsOf(call({ attempt: index + 1 })))
      callLog.apply({ ...event, ...fields } as Event);
  return copiesOf({ callLog, redactor: createRedactor() }, KEY, null)?.curl() ?? null;
}

test.each<[string, readonly Partial<RequestEvent>[], string | null]>([
  ['a Host header', [{ url: '/invoke', headers: { Host: 'TOOL:1' } }], "'http://TOOL:1/invoke'"],
  ['no Host header', [{ url: '/invoke', headers: {} }], null],
  ['an invalid Host header', [{ url: '/invoke', headers: { host: 'me@tool/x' } }], null],
  [
    'both sides of a recorder',
    [{ url: '/invoke', headers: { host: 'recorder:1' } }, { url: 'http://tool:2/invoke' }],
    "'http://tool:2/invoke'",
  ],
])('the address comes from %s', (_, requests, address) => {
  expect(
    copyOf(...requests)
      ?.text.split(' \\\n')[1]
      ?.trim() ?? null,
  ).toBe(address);
});

test('headers of the connection are left to curl, and secret ones must be filled in', () => {
  const headers = { Host: 'a', 'content-length': '7', 'content-type': 'application/json', 'x-key': 'k' };
  const { text = '', gaps } = copyOf({ headers }) ?? {};
  expect(text.match(/-H '[^']*'/g)).toEqual([
    "-H 'content-type: application/json'",
    "-H 'x-key: [redacted]'",
  ]);
  expect(gaps).toEqual(['callback_url', 'x-key']);
});
