import { expect, test } from 'vitest';
import { checkTranscript, RULES } from '../../src/check/judge.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import { eventsOf, type Moment } from '../events/build.js';
import { notice, someCall } from './samples/parts.js';

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
