import { expect, test } from 'vitest';
import type { Rule } from '../../src/check/rule.js';
import { REQUIREMENTS } from '../../src/check/rules/index.js';
import { type Side, suggestRequirement } from '../../src/protocol/requirements.js';

/** Section 3 of the protocol's page, copied by hand. */
const TOOL: Readonly<Record<string, Rule['level']>> = {
  'TOOL-ACK': 'MUST',
  'TOOL-ASYNC': 'MUST',
  'TOOL-ALWAYS': 'MUST',
  'TOOL-POST': 'MUST',
  'TOOL-GROUP': 'MUST',
  'TOOL-ID': 'MUST',
  'TOOL-CALLID': 'MUST',
  'TOOL-ONCE': 'MUST',
  'TOOL-ISOLATE': 'MUST',
  'TOOL-OPAQUE': 'MUST',
  'TOOL-VALIDATE': 'MUST',
  'TOOL-UNKNOWN-OP': 'SHOULD',
  'TOOL-BAD-ARGS': 'SHOULD',
  'TOOL-MALFORMED': 'SHOULD',
  'TOOL-EXTRA': 'SHOULD',
  'TOOL-ERRPREFIX': 'SHOULD',
  'TOOL-SECRET': 'MUST',
  'TOOL-NOLEAK': 'SHOULD',
  'TOOL-RETRY': 'SHOULD',
  'TOOL-NORETRY': 'SHOULD',
  'TOOL-FALLBACK': 'SHOULD',
  'TOOL-DIFF': 'MUST',
  'TOOL-IMAGE': 'SHOULD',
  'TOOL-SUB': 'MUST',
  'TOOL-CHOICE': 'MUST',
  'TOOL-OAUTH': 'MUST',
  'TOOL-CANCEL': 'SHOULD',
  'TOOL-CLOSE': 'SHOULD',
  'TOOL-DISCOVER': 'MUST',
  'TOOL-NAMES': 'MUST',
  'TOOL-MIGRATE': 'MUST',
  'TOOL-RATE': 'SHOULD',
};

const RUNTIME: Readonly<Record<string, Rule['level']>> = {
  'RT-OP': 'MUST',
  'RT-ARGS': 'SHOULD',
  'RT-ID': 'MUST',
  'RT-FIELDS': 'MUST',
  'RT-ANCESTORS': 'SHOULD',
  'RT-NON200': 'SHOULD',
  'RT-RETRY': 'SHOULD',
  'RT-NORETRY': 'MUST',
  'RT-VALIDATE': 'MUST',
  'RT-MATCH': 'MUST',
  'RT-SANITIZE': 'SHOULD',
  'RT-DUP': 'SHOULD',
  'RT-TEXT': 'MUST',
  'RT-DISPLAY': 'SHOULD',
  'RT-PENDING': 'MUST',
  'RT-OAUTH': 'MUST',
  'RT-CHOICE': 'MUST',
  'RT-SUB': 'MUST',
  'RT-VIEW': 'MUST',
  'RT-SERIAL': 'MUST',
  'RT-CANCEL': 'MUST',
  'RT-NOTIFY': 'MUST',
  'RT-MIGRATE': 'MUST',
  'RT-TOOLSET': 'MUST',
  'RT-CACHE': 'SHOULD',
  'RT-AUDIT': 'SHOULD',
  'RT-ACK': 'SHOULD',
  'RT-TIMEOUT': 'none',
};

function levelsOf(side: Side): Record<string, Rule['level']> {
  const own = Object.entries(REQUIREMENTS).filter(([, requirement]) => requirement.side === side);
  return Object.fromEntries(own.map(([id, { level }]) => [id, level]));
}

test('32 requirements of the tool, with their levels', () => {
  expect(levelsOf('tool')).toEqual(TOOL);
  expect(Object.keys(TOOL)).toHaveLength(32);
});

test('28 requirements of the runtime, with their levels', () => {
  expect(levelsOf('runtime')).toEqual(RUNTIME);
  expect(Object.keys(RUNTIME)).toHaveLength(28);
});

test('every id has the prefix of its side, every statement is a clause', () => {
  for (const [id, { side, statement }] of Object.entries(REQUIREMENTS)) {
    expect(id).toMatch(side === 'tool' ? /^TOOL-[A-Z-]+$/ : /^RT-[A-Z0-9]+$/);
    expect(statement).toMatch(/^(POSTs|[a-z]).*[^.]$/);
  }
});

const ROWS = Object.entries(REQUIREMENTS);

test.each(ROWS)('the advice of %s is one short line', (id, { advice }) => {
  expect(advice).toMatch(/^[A-Z][^\n]+\.$/);
  expect(advice.length).toBeLessThanOrEqual(120);
  expect(advice).not.toContain(id);
});

test('each requirement has its own advice', () => {
  expect(new Set(ROWS.map(([, { advice }]) => advice)).size).toBe(ROWS.length);
});

test('quotes the pages on invocations and results; no requirement is stricter than its quote', () => {
  for (const [id, { level, source }] of ROWS) {
    expect({ id, isQuoted: source.words !== undefined }).toEqual({
      id,
      isQuoted: source.page !== 'public specification',
    });
    if (source.words?.match(/\b(MUST|SHOULD)\b/))
      expect(source.words, id).toMatch(new RegExp(`\\b${level}\\b`));
  }
});

test.each([
  ['TOOL-AKC', 'Did you mean "TOOL-ACK"?'],
  ['tool-retyr', 'Did you mean "TOOL-RETRY"?'],
  ['TOOL-ERR', 'Did you mean "TOOL-ERRPREFIX"?'],
  ['ack', 'Did you mean "TOOL-ACK" or "RT-ACK"?'],
  ['RT-ASYNC', 'Did you mean "TOOL-ASYNC"?'],
  ['retry', 'Did you mean "TOOL-RETRY" or "RT-RETRY"?'],
  ['toolset', 'Did you mean "RT-TOOLSET"?'],
  ['TOOL-SUBS', 'Did you mean "TOOL-SUB"?'],
])('%s: %s', (word, words) => {
  expect(suggestRequirement(word)).toBe(words);
});

test.each(['TOOL-FOO', 'TOOL-XYZ', 'TOOL-NOPE', 'TOOL-', 'RT-', '', 'x', '__proto__'])(
  'suggests for %j no unrelated id, but how to list all',
  word => {
    expect(suggestRequirement(word)).toBe('`protocol-cli check --list` shows them all.');
  },
);

test('suggests the id if one letter is wrong, whatever the rule', () => {
  for (const id of Object.keys(REQUIREMENTS)) expect(suggestRequirement(`${id}x`)).toContain(`"${id}"`);
});
