import { expect, it } from 'vitest';
import type { Answer } from '../../../src/dialects/dialect.js';
import type { Outcome } from '../../../src/protocol/outcome.js';
import type { PendingCall } from '../../../src/session/client/pending-calls.js';
import {
  answerWith,
  clientError,
  settle,
  successOf,
  unknownTool,
} from '../../../src/session/client/pending-calls.js';

const native = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1', tenant: 'ours' };
const call: PendingCall = { key: 'call_1', tool: 'lookup_order', args: native.args, id: 'call_1', native };

const posted = (answer: Answer): unknown =>
  JSON.parse(Buffer.from(settle(call, answer).bytes).toString('utf8'));
const ended = (outcome: Outcome): Answer => ({
  call: { id: 'other' },
  outcome: { ...outcome, basis: 'ours' },
});

it.each<[string, unknown]>([
  ['a string', 'shipped'],
  ['an object', { state: 'shipped' }],
  ['null', null],
  ['false', false],
])('a result that is %s is posted as it is, the call echoed whole', (_, result) => {
  expect(posted(successOf(call, result))).toEqual({ kind: 'tool_result', tool_req: native, result });
});

it('an undefined result is null (platforms)', () => {
  expect(posted(successOf(call, undefined))).toEqual({ kind: 'tool_result', tool_req: native, result: null });
});

it.each<[Outcome, RegExp]>([
  [{ type: 'error', message: 'no such order' }, /^no such order$/],
  [{ type: 'timeout', durationMs: 2_000 }, /time/],
  [{ type: 'denied', tool: 'lookup_order', reason: 'not today' }, /denied.*not today/],
  [{ type: 'canceled', by: 'user' }, /canceled/],
  [{ type: 'unknown', raw: 9 }, /9/],
])('the outcome %j is an error_event of the tools', (outcome, said) => {
  expect(posted(ended(outcome))).toEqual({
    kind: 'error_event',
    tool_req: native,
    error: expect.stringMatching(said),
    origin: 'custom_tools',
  });
});

it("what goes wrong here is the client's", () => {
  expect(posted(clientError(call, 'boom'))).toMatchObject({
    kind: 'error_event',
    error: 'boom',
    origin: 'client',
  });
  expect(posted(unknownTool(call, ['a', 'b']))).toMatchObject({
    error: expect.stringMatching(/lookup_order.*a, b/),
    origin: 'client',
  });
});

it('what is no JSON is an error that says so', () => {
  const circle: Record<string, unknown> = {};
  circle['circle'] = circle;
  for (const value of [circle, 10n, () => 1, Symbol('x'), { toJSON: () => undefined }])
    expect(posted(successOf(call, value))).toMatchObject({
      kind: 'error_event',
      error: expect.stringMatching(/no JSON/),
    });
});

it('functions answer by their name, and only their own', async () => {
  const answerer = answerWith({ lookup_order: async ({ order_id }) => `${order_id} shipped` });
  const { signal } = new AbortController();
  expect(posted(await answerer.answer(call, { signal }))).toMatchObject({ result: 'A1 shipped' });
  const foreign = await answerer.answer({ ...call, tool: 'toString' }, { signal });
  expect(foreign.outcome).toMatchObject({ type: 'error', origin: 'client' });
});

it('what the model should have had and does not get is said', () => {
  const { outcome, payload } = successOf(call, 'see the picture');
  const beside = {
    images: [{ data: 'AAAA', mediaType: 'image/png' }],
    display: [{ type: 'text' }],
    subscription: true,
  };
  const { losses } = settle(call, { call: { id: null, thread: 't' }, outcome, payload, beside });
  expect(losses).toEqual([expect.stringMatching(/1 image/), expect.stringMatching(/events will follow/)]);
});
