import { expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checksOf, checkTranscript } from '../../src/check/judge.js';
import { RULES } from '../../src/check/rules/index.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  type Moment,
  resultArrives,
} from '../events/build.js';
import { discovery, notice, planned, someCall } from './samples/parts.js';
import { scenario } from './samples/runtime/driven.js';

/** The advice of a finding fits what happened. */

const a = someCall('a');

const answeredWith = (how: Parameters<typeof a.answered>[0]): Moment[] => [...a.sent(), ...a.answered(how)];

test.each<[string, RequirementId, readonly Moment[], RegExp]>([
  ['a notice with a body', 'TOOL-CANCEL', notice('cancel', { body: 'closed' }), /with 200 and an empty body/],
  ['a notice with another status', 'TOOL-CANCEL', notice('cancel', { status: 404 }), /with 200 for every id/],
  ['a redirect', 'TOOL-ACK', answeredWith({ status: 307, headers: { location: '/invoke/' } }), /endpoint/],
  ['a broken connection', 'TOOL-ACK', answeredWith({ status: null }), /log of the tool/],
  ['another status', 'TOOL-ACK', answeredWith({ status: 202 }), /Answer 200, not another status/],
])('%s', async (_, id, moments, advice) => {
  const { checks } = await checkTranscript(eventsOf(moments), { sides: ['tool'] });
  const check = checks.find(each => each.id === id);
  const shown = check?.advice ?? RULES[id].advice;
  expect([check?.status === 'pass', shown]).toEqual([false, expect.stringMatching(advice)]);
  expect(shown).not.toContain('path');
});

const open = [...scenario(), ...call(), ...acknowledged()];

test.each<[string, RequirementId, readonly Moment[]]>([
  ['a result', 'RT-TEXT', resultArrives({}, { status: 404 })],
  ['a question', 'RT-CHOICE', arrives(CHOICE, { status: 404 })],
  [
    'an event',
    'RT-SUB',
    [...resultArrives({ subscription: true }, { leg: 's', status: 200 }), ...arrives(EVENT, { status: 404 })],
  ],
])('%s that a runtime refuses is to be answered 200', async (_, id, moments) => {
  const { checks } = await checkTranscript(eventsOf(open, moments), { sides: ['runtime'] });
  const check = checks.find(each => each.id === id);
  expect(check).toMatchObject({
    status: 'fail',
    actual: '404',
    advice: expect.stringMatching(/^Answer 200/),
  });
});

test('a question that does not match its schema is to be repaired', async () => {
  const question = arrives({ ...CHOICE, default: 'No' }, { status: 400 });
  const { checks } = await checkTranscript(eventsOf([...call(), ...acknowledged()], question), {
    sides: ['tool'],
  });
  const check = checks.find(({ id }) => id === 'TOOL-CHOICE');
  expect(check).toMatchObject({ status: 'fail', advice: expect.stringMatching(/members that are named/) });
});

const OPTIONS = /--(?:probe-timeout|bearer|header)/;

test.each<[string, RequirementId, readonly (readonly Moment[])[]]>([
  ['a call without a result', 'TOOL-ALWAYS', [a.begun(), at(5_000, a.waited())]],
  [
    'a callback that was not sent again',
    'TOOL-RETRY',
    [a.begun(), a.result({}, { status: 503 }), at(9_000, a.waited())],
  ],
  ['a tool that requires credentials', 'TOOL-ACK', [answeredWith({ status: 401 })]],
  ['a discovery that requires credentials', 'TOOL-DISCOVER', [discovery('', { status: 401 })]],
])('options of a check are named in a live check, not in a recording: %s', async (_, id, parts) => {
  const reasonOf = async (events: ReturnType<typeof eventsOf>, isSaved: boolean) => {
    const [check] = checksOf('tool', [await gatherEvidence({ events, isSaved }, 'tool')], {
      only: new Set([id]),
    });
    expect(check?.status).toMatch(/fail|warn|could-not-run/);
    return check?.reason;
  };
  const probed = eventsOf(planned([id]), ...parts);
  expect(await reasonOf(probed, false)).toMatch(OPTIONS);
  expect(await reasonOf(probed, true)).not.toMatch(OPTIONS);
  expect(await reasonOf(eventsOf(...parts), true)).not.toMatch(OPTIONS);
});
