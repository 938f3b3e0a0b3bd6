import { expect, test } from 'vitest';
import { checkTranscript } from '../../src/check/report.js';
import { REQUIREMENTS } from '../../src/check/rules/all.js';
import type { Event } from '../../src/events/events.js';
import {
  acknowledged,
  answered,
  at,
  call,
  eventsOf,
  resultArrives,
  timedOut,
  untrackedRequest,
} from '../events/build.js';

const GOOD = eventsOf(call(), at(3, acknowledged()), at(9, resultArrives()));
const LATE = eventsOf(call(), at(10, resultArrives()), at(900, acknowledged()));

test('a row for each requirement of both sides', async () => {
  const { checks, summary } = await checkTranscript(GOOD);
  expect(checks.map(({ id }) => id)).toEqual(Object.keys(REQUIREMENTS));
  expect(Object.values(summary).reduce((sum, count) => sum + count)).toBe(checks.length);
});

test('of one side, or of some rules, where that is asked for', async () => {
  const tool = await checkTranscript(GOOD, { sides: ['tool'], skip: new Set(['TOOL-ACK']) });
  expect(new Set(tool.checks.map(({ side }) => side))).toEqual(new Set(['tool']));
  expect(tool.checks.map(({ id }) => id)).not.toContain('TOOL-ACK');
  const one = await checkTranscript(LATE, { only: new Set(['TOOL-ACK']) });
  expect(one.checks).toMatchObject([{ id: 'TOOL-ACK', status: 'fail', events: expect.arrayContaining([0]) }]);
});

test('of a breach it is told what else fell with it, and nothing that did not', async () => {
  const masksIn = async (events: readonly Event[], rule: string) => {
    const { checks } = await checkTranscript(events, { sides: ['tool'] });
    return checks.find(({ id, status }) => id === rule && status === 'fail')?.masks ?? 'none';
  };
  const inAnswer = eventsOf(call(), answered(200, { body: '{"text":"done"}' }), timedOut());
  expect(await masksIn(inAnswer, 'TOOL-ASYNC')).toEqual(['TOOL-ALWAYS']);
  expect(await masksIn(LATE, 'TOOL-ACK')).toBe('none');
});

test('what may be lost accuses nobody', async () => {
  const events = eventsOf(untrackedRequest('discovery', 404));
  const statusOf = async (isWhole: boolean) => {
    const { checks } = await checkTranscript(events, { only: new Set(['TOOL-DISCOVER']), isWhole });
    return checks.map(({ status }) => status);
  };
  expect([await statusOf(true), await statusOf(false)]).toEqual([['fail'], ['could-not-run']]);
});

test('zero events are judged too: nothing passes', async () => {
  const { summary } = await checkTranscript([]);
  expect(summary).toMatchObject({ pass: 0, fail: 0 });
});
