import { describe, expect, test } from 'vitest';
import { type ReportedCall, reportLines } from '../../../src/render/saved-timeline.js';
import { words } from '../../support/words.js';

const linesOf = (call: ReportedCall) => reportLines(call).map(words);
const callback = (fields: object) => ({
  type: 'tool_result',
  ms: 12,
  verdict: 'settles',
  status: 200,
  ...fields,
});

test('a call that went well', () => {
  expect(
    linesOf({
      invocation: { operation: 'edit_file' },
      endpoint: 'http://127.0.0.1:3001/invoke',
      acknowledgement: { status: 200, ms: 3 },
      outcome: { type: 'success', basis: 'assumed' },
      callbacks: [callback({})],
    }),
  ).toEqual([
    '✓ sent edit_file to http://127.0.0.1:3001/invoke',
    '✓ acknowledged with 200 after 3ms',
    '✓ result after 12ms',
  ]);
});

test('one that got nowhere', () => {
  expect(linesOf({})).toEqual([]);
  expect(linesOf({ invocation: { operation: 'a\nb' }, endpoint: '', acknowledgement: null })).toEqual([
    '✓ sent a␊b',
  ]);
});

describe('what did not go as it should', () => {
  test.each([
    [{ acknowledgement: { status: 503, ms: 3 } }, '✗ answered 503 instead of 200 after 3ms'],
    [{ outcome: { type: 'timeout', basis: 'ours' } }, '✗ outcome timeout (local)'],
    [{ callbacks: [callback({ verdict: 'late' })] }, '• tool_result late with 200 after 12ms'],
    [
      { callbacks: [callback({ type: null, verdict: 'rejected', status: 400, reason: '$: no' })] },
      '✗ callback rejected with 400: $: no after 12ms',
    ],
    [
      { callbacks: [callback({ type: 'subscription_event', verdict: 'noted', text: 'opened' })] },
      '• subscription_event noted with 200: opened after 12ms',
    ],
  ] satisfies [ReportedCall, string][])('%o', (call, line) => {
    expect(linesOf(call)).toEqual([line]);
  });
});
