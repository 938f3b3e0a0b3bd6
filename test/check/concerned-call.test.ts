import { expect, test } from 'vitest';
import { gather } from '../../src/check/evidence/seen-from.js';
import type { Rule } from '../../src/check/judge.js';
import { judge } from '../../src/check/judge.js';
import { survivesMalformedPayloads } from '../../src/check/rules/arguments.js';
import { dropsNothing } from '../../src/check/rules/delivery.js';
import { keepsId } from '../../src/check/rules/ids.js';
import { takesCloses } from '../../src/check/rules/notices.js';
import { at, eventsOf, type Moment } from '../events/build.js';
import { notice, someCall } from './samples/parts.js';

const [a, b] = [someCall('a'), someCall('b', { operation: 'list' })];
const begun = () => [...a.sent(), ...a.answered(), ...b.sent(), ...b.answered()];

async function callsOf(rule: Rule, ...story: readonly (readonly Moment[])[]) {
  return judge(rule, await gather(eventsOf(...story), 'runtime', 'tool')).calls;
}

test('a finding says which calls it is about, in the order in which they broke it', async () => {
  const story = [begun(), b.result({ id: 'x' }), a.result({ id: 'y' })];
  expect(await callsOf(keepsId, ...story)).toEqual([
    { operation: 'edit_file', id: 'a' },
    { operation: 'list', id: 'b' },
  ]);
  expect(await callsOf(keepsId, begun(), b.result({ id: 'x' }), a.result())).toEqual([
    { operation: 'list', id: 'b' },
  ]);
});

test('what is fine says none: rows of live runs are compared', async () => {
  expect(await callsOf(keepsId, begun(), a.result(), b.result())).toBeUndefined();
});

test('nor does what is about no call', async () => {
  expect(await callsOf(takesCloses, begun(), notice('close', { status: 404 }))).toBeUndefined();
});

test('of what is no invocation, so much as it says', async () => {
  const story = (body: string | object) => [a.sent(body), a.answered({ status: 500 })];
  expect(await callsOf(survivesMalformedPayloads, ...story({ operation: 5, id: 'only' }))).toEqual([
    { operation: null, id: 'only' },
  ]);
  expect(await callsOf(survivesMalformedPayloads, ...story('['))).toBeUndefined();
});

const LOST = { status: null, code: 'ECONNREFUSED', phase: 'connect' } as const;

test('who merely found nobody there is none of them', async () => {
  const ended = [a.sent({ id: 'a' }), a.answered({ status: null, code: 'ECONNRESET' })];
  const found = [b.sent(), b.answered(LOST), b.waited()];
  const dropped = [a.sent(), a.answered(), b.sent(), b.answered(LOST), at(60_000, a.waited())];
  for (const isWhole of [true, false]) {
    const evidence = await gather(eventsOf(...ended, ...found), 'runtime', 'tool', isWhole);
    const { calls, events } = judge(survivesMalformedPayloads, evidence);
    expect([calls, events]).toEqual([[{ operation: null, id: 'a' }], [0, 1, 2, 3]]);
  }
  expect(await callsOf(dropsNothing, ...dropped)).toEqual([{ operation: 'edit_file', id: 'a' }]);
});
