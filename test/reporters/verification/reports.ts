import type { VerificationReport } from '../../../src/events/verification.js';

const none = { count: 0, examples: [] };

export const FINE: VerificationReport = {
  ok: true,
  calls: 3,
  fixtures: [
    { id: 'pay', place: 'tool.yaml:3', calls: 3, status: 'used' },
    { id: 'spare', place: 'tool.yaml:9', calls: 0, status: 'not-needed', expected: { min: 0 } },
  ],
  unmatched: none,
  undelivered: none,
};

const who = { operation: 'pay', id: 'c1', group_id: 'thread_a' };

export const BROKEN: VerificationReport = {
  ok: false,
  calls: 12,
  fixtures: [
    { id: 'pay', place: 'tool.yaml:3', calls: 1, status: 'used' },
    { id: 'tool.json#2', place: 'tool.json#2', calls: 0, status: 'unused' },
    { id: 'ship', place: 'tool.yaml:9', calls: 0, status: 'unused', expected: { min: 2, max: 4 } },
    { id: 'few', place: 'tool.yaml:12', calls: 1, status: 'too-few', expected: { min: 2 } },
    { id: 'many', place: 'tool.yaml:15', calls: 3, status: 'too-many', expected: { max: 2 } },
    { id: 'once', place: 'tool.yaml:18', calls: 2, status: 'too-many', expected: { min: 1, max: 1 } },
  ],
  unmatched: {
    count: 4,
    examples: [
      { ...who, nearest: { fixture: 'ship', path: '$.operation', reason: 'is "pay", not "ship"' } },
      { ...who, reason: 'unknown operation "pay".' },
      { operation: null, id: null, group_id: null, reason: 'the invocation is malformed: not valid JSON' },
      who,
    ],
  },
  undelivered: {
    count: 102,
    examples: [
      { operation: 'pay', id: 'c1', url: 'http://127.0.0.1:9/cb', type: 'tool_result', why: 'answered 404' },
      { operation: 'pay', id: 'c2', url: null, why: 'still pending' },
    ],
  },
};

/** Every field holds what acts on a terminal and what means something in XML. */
export function hostile(text: string): VerificationReport {
  const call = { operation: text, id: text, group_id: text };
  return {
    ok: false,
    calls: 1,
    fixtures: [{ id: text, place: `${text}:3`, calls: 0, status: 'unused' }],
    unmatched: { count: 1, examples: [{ ...call, nearest: { fixture: text, path: text, reason: text } }] },
    undelivered: { count: 1, examples: [{ ...call, url: text, type: text, why: text }] },
  };
}
