import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../../src/commands/invoke/arguments.js';
import { commandLine, type Repeatable } from '../../../src/commands/workbench/copies.js';
import { parseJson } from '../../../src/util/json.js';
import { anyCodePoint } from '../../support/characters.js';

const call = (fields: Partial<Repeatable['invocation']>, rest: Partial<Repeatable> = {}): Repeatable => ({
  target: { kind: 'url', url: 'http://127.0.0.1:3001' },
  groupId: null,
  validates: true,
  headers: [],
  ...rest,
  invocation: { operation: 'edit_file', arguments: {}, ...fields },
});

/** The words that a shell makes of it. */
function wordsOf(line: string): string[] {
  const script = line.replace(/^protocol-cli invoke/, 'printf "%s\\0"');
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

describe('one call', () => {
  test.each<[string, Repeatable, string]>([
    ['plain', call({ arguments: { path: 'a.txt' } }), 'http://127.0.0.1:3001 edit_file path=a.txt'],
    ['a space', call({ arguments: { path: "it's a" } }), `http://127.0.0.1:3001 edit_file 'path=it'\\''s a'`],
    ['a number', call({ arguments: { n: 7 } }), 'http://127.0.0.1:3001 edit_file n:=7'],
    ['no number', call({ arguments: { n: '7' } }), `http://127.0.0.1:3001 edit_file 'n:="7"'`],
    ['no file', call({ arguments: { n: '@a' } }), `http://127.0.0.1:3001 edit_file 'n:="@a"'`],
    ['unseen', call({ arguments: { n: '\u001b' } }), `http://127.0.0.1:3001 edit_file 'n:="\\u001b"'`],
    [
      'a strange key',
      call({ arguments: { 'a=b': 1 } }),
      `--args '{"a=b":1}' http://127.0.0.1:3001 edit_file`,
    ],
    ['a dash', call({ arguments: { '-n': 'x' } }), '-- http://127.0.0.1:3001 edit_file -n=x'],
    [
      'what breaks its schema',
      call({}, { validates: false }),
      '--no-validate http://127.0.0.1:3001 edit_file',
    ],
    ['the demo', call({}, { target: { kind: 'demo' } }), '--demo edit_file'],
    [
      'a command',
      call({}, { target: { kind: 'command', command: 'node x' } }),
      "--command 'node x' edit_file",
    ],
    [
      'an endpoint',
      call({}, { target: { kind: 'endpoint', url: 'http://a/b' } }),
      '--endpoint http://a/b edit_file',
    ],
    [
      'identity and credentials',
      call({ user_id: 'u 1', thread_ancestors: ['a', 'b'] }, { groupId: 't', headers: ['authorization'] }),
      "-H 'authorization: [redacted]' --user-id 'u 1' --group-id t --ancestor a --ancestor b http://127.0.0.1:3001 edit_file",
    ],
  ])('%s', (_, repeatable, line) => {
    expect(commandLine(repeatable)).toEqual({ ok: true, line: `protocol-cli invoke ${line}` });
  });

  test.each<[string, Repeatable, RegExp]>([
    [
      'of a number that no line can give',
      call({ arguments: { n: 2 ** 60 } }),
      /^in its arguments the number 1152921504606847000 cannot/,
    ],
    ['of an operation that is an argument', call({ operation: 'a=b' }), /^its operation would be read as/],
    ['of an operation that acts on a terminal', call({ operation: '\u001b[2J' }), /not seen$/],
    ['of an ancestor that does', call({ thread_ancestors: ['\u0007'] }), /not seen$/],
  ])('without line %s, and that is why', (_, repeatable, why) => {
    expect(commandLine(repeatable)).toEqual({ ok: false, why: expect.stringMatching(why) });
  });
});

const KEYS = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom('__proto__', 'a:', '=', '-x'),
);
const TEXTS = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom('true', '1', 'null', '[]', '@file', "'", '$(id)', '`id`', '!', '\n', '\0', '"', '~'),
);
const ARGUMENTS = fc.dictionary(KEYS, fc.oneof(TEXTS, fc.jsonValue({ maxDepth: 3 })), {
  noNullPrototype: true,
});
const TYPES = fc.dictionary(fc.string(), fc.constantFrom('string', 'integer', 'boolean', 'array', 'null'));

test('a shell and our own reader make the same arguments of it, whatever the schema is, and nothing of it acts', async () => {
  const property = fc.asyncProperty(ARGUMENTS, TYPES, async (raw, types) => {
    const args = JSON.parse(JSON.stringify(raw)) as Record<string, unknown>;
    const said = commandLine(call({ arguments: args }));
    const reading = parseJson(JSON.stringify(args));
    const isExact = reading.ok && reading.notes.length === 0;
    expect(said.ok).toBe(isExact);
    if (!said.ok) return;
    const { line } = said;
    expect(line).not.toMatch(/\p{Cc}|\p{Cf}/u);
    const words = wordsOf(line);
    const whole = words[0] === '--args' ? words[1] : undefined;
    const given = words.slice(words.indexOf('edit_file') + 1);
    const properties = Object.fromEntries(
      Object.keys(args).map((key, at) => [key, { type: [Object.values(types)[at] ?? 'integer', 'string'] }]),
    );
    const read = await readArguments(
      { words: given, ...(whole !== undefined && { whole }) },
      { properties },
      nothing(),
    );
    expect(JSON.stringify(read)).toBe(JSON.stringify(args));
  });
  await fc.assert(property, { numRuns: 150 });
});
