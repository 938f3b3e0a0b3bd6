import { expect, test } from 'vitest';
import { gather } from '../../src/check/evidence.js';
import { judge } from '../../src/check/judge.js';
import type { Rule } from '../../src/check/rule.js';
import { RULES } from '../../src/check/rules/all.js';
import { at, eventsOf, type Moment } from '../events/build.js';
import { notice, someCall } from './samples/parts.js';

const [a, b] = [someCall('a'), someCall('b', { operation: 'list' })];
const begun = () => [...a.sent(), ...a.answered(), ...b.sent(), ...b.answered()];

async function callsOf(rule: Rule, ...story: readonly (readonly Moment[])[]) {
  return judge(rule, await gather({ events: eventsOf(...story) }, 'tool')).calls;
}

test('a finding says which calls it is about, in the order in which they broke it', async () => {
  const story = [begun(), b.result({ id: 'x' }), a.result({ id: 'y' })];
  expect(await callsOf(RULES['TOOL-ID'], ...story)).toEqual([
    { operation: 'edit_file', id: 'a' },
    { operation: 'list', id: 'b' },
  ]);
  expect(await callsOf(RULES['TOOL-ID'], begun(), b.result({ id: 'x' }), a.result())).toEqual([
    { operation: 'list', id: 'b' },
  ]);
});

test('what is fine says none: rows of live runs are compared', async () => {
  expect(await callsOf(RULES['TOOL-ID'], begun(), a.result(), b.result())).toBeUndefined();
});

test('nor does what is about no call', async () => {
  expect(await callsOf(RULES['TOOL-CLOSE'], begun(), notice('close', { status: 404 }))).toBeUndefined();
});

test('of what is no invocation, so much as it says', async () => {
  const story = (body: string | object) => [a.sent(body), a.answered({ status: 500 })];
  expect(await callsOf(RULES['TOOL-MALFORMED'], ...story({ operation: 5, id: 'only' }))).toEqual([
    { operation: null, id: 'only' },
  ]);
  expect(await callsOf(RULES['TOOL-MALFORMED'], ...story('['))).toBeUndefined();
});

const LOST = { status: null, code: 'ECONNREFUSED', phase: 'connect' } as const;

test('who merely found nobody there is none of them', async () => {
  const ended = [a.sent({ id: 'a' }), a.answered({ status: null, code: 'ECONNRESET' })];
  const found = [b.sent(), b.answered(LOST), b.waited()];
  const dropped = [a.sent(), a.answered(), b.sent(), b.answered(LOST), at(60_000, a.waited())];
  for (const isWhole of [true, false]) {
    const evidence = await gather({ events: eventsOf(...ended, ...found), isWhole }, 'tool');
    const { calls, events } = judge(RULES['TOOL-MALFORMED'], evidence);
    expect([calls, events]).toEqual([[{ operation: null, id: 'a' }], [0, 1, 2, 3]]);
  }
  expect(await callsOf(RULES['TOOL-ALWAYS'], ...dropped)).toEqual([{ operation: 'edit_file', id: 'a' }]);
});
