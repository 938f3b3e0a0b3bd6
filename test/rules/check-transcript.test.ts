import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../src/protocol/requirements.js';
import { checkTranscript } from '../../src/rules/check-transcript.js';
import { acknowledged, at, call, eventsOf, resultArrives } from '../exchange/build.js';

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

test('zero events are judged too: nothing passes', async () => {
  const { summary } = await checkTranscript([]);
  expect(summary).toMatchObject({ pass: 0, fail: 0 });
});
