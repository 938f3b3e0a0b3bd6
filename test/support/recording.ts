import { Content } from '../../src/events/content.js';
import type { Event, Fact, RequestEvent } from '../../src/events/events.js';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { createRedactor } from '../../src/util/redact.js';

/*
 * Builds recordings of calls: `recorded(recordedCall({ id: 'call_1' }, { at: 20, message: result('done') }))`. Times are in ms since
 * the start of the call.
 */

export type CallStep = { readonly at: number } & (
  | { readonly message: object | string; readonly status?: number | 'broken'; readonly attempt?: number }
  | { readonly acknowledged: number | Broken }
  | { readonly chosen: number; readonly status?: number }
  | { readonly consent: 'granted' | 'refused' }
  | { readonly notice: 'cancel' | 'close' }
);

type Broken = keyof typeof BROKEN;

export interface RecordedCall {
  readonly invocation: Readonly<Record<string, unknown>>;
  /** The time of its invocation. */
  readonly at: number;
  readonly steps: readonly CallStep[];
}

/** One call; acknowledged after 1 ms by default. */
export function recordedCall(
  { at = 0, ...fields }: { readonly at?: number } & Readonly<Record<string, unknown>>,
  ...steps: readonly CallStep[]
): RecordedCall {
  const invocation = {
    operation: 'edit_file',
    arguments: {},
    id: 'call_1',
    group_id: 'thread_1',
    callback_url: 'http://127.0.0.1:4000/callback/token',
    ...fields,
  };
  const isAcknowledged = steps.some(step => 'acknowledged' in step);
  return { invocation, at, steps: isAcknowledged ? steps : [{ at: 1, acknowledged: 200 }, ...steps] };
}

export const result = (text: string, fields: object = {}): Readonly<Record<string, unknown>> => ({
  ...{ type: 'tool_result', group_id: 'thread_1', id: 'call_1', text },
  ...fields,
});

export function recorded(...calls: readonly RecordedCall[]): Event[] {
  let legs = 0;
  const timed = calls.flatMap((call, index) => factsOf(call, `key_${index}`, () => `leg_${++legs}`));
  return stamped(timed);
}

/** Puts a discovery before these events. */
export function discovered(toolset: object, events: readonly Event[], status = 200): Event[] {
  const about = { leg: 'discovery', headers: {} } as const;
  const facts: Fact[] = [
    { kind: 'request', ...about, ...TO_TOOL, purpose: 'discovery', method: 'GET', url: '/', attempt: 1 },
    { kind: 'response', ...about, status, body: Content.ofJson(toolset) },
  ];
  return stamped([
    ...facts.map(fact => ({ at: 0, fact })),
    ...events.map(event => ({ at: event.at, fact: event })),
  ]);
}

/** As a recorder between the two has it: each message twice, the callback URL on the tool's side another one. */
export function onBothHops(events: readonly Event[]): Event[] {
  const twice = events.flatMap(event => {
    if (event.kind === 'decided') return []; // no one tells a recorder what people do
    if (!('leg' in event) || event.leg === undefined) return [event];
    const { leg } = event;
    const sides = (['runtime-side', 'tool-side'] as const).map(hop => {
      const own = { ...event, leg: `${leg} ${hop}` };
      return own.kind === 'request' ? onHop(own, hop) : own;
    });
    const isFromTool = event.kind === 'request' && event.from === 'tool';
    return isFromTool ? sides.toReversed() : sides;
  });
  return stamped(twice.map(event => ({ at: event.at, fact: event })));
}

/** The lines of a transcript. */
export function transcriptOf(
  events: readonly Event[],
  observer: 'runtime' | 'tool' | 'recorder' = 'tool',
): string {
  const writer = transcriptWriter(createRedactor());
  const about = { startedAt: '2026-11-22T00:00:00.000Z', observer, program: 'test/1' };
  const lines = [writer.header(about), ...events.flatMap(event => writer.event(event)), writer.end('done')];
  return `${lines.join('\n')}\n`;
}

const BROKEN = {
  broken: { phase: 'answer', code: 'ECONNRESET' },
  hung: { phase: 'answer', code: 'ABORTED' },
  unreached: { phase: 'connect', code: 'ECONNREFUSED' },
} as const;

const TO_TOOL = { from: 'runtime', to: 'tool' } as const;
const TO_RUNTIME = { from: 'tool', to: 'runtime' } as const;

interface Timed {
  readonly at: number;
  readonly fact: Fact;
}

function factsOf({ invocation, at, steps }: RecordedCall, key: string, nextLeg: () => string): Timed[] {
  const calls = [key];
  const request = (purpose: RequestEvent['purpose'], leg: string, body: Content, attempt = 1): Fact => {
    const way = purpose === 'callback' ? TO_RUNTIME : TO_TOOL;
    const about = { kind: 'request', leg, purpose, ...way, method: 'POST', url: '/', headers: {} } as const;
    return { ...about, calls, attempt, body };
  };
  const answer = (leg: string, status: number | Broken): Fact =>
    typeof status === 'string'
      ? { kind: 'broken', leg, calls, ...BROKEN[status] }
      : { kind: 'response', leg, calls, status, headers: {} };
  const attempts = steps.filter(step => 'acknowledged' in step).map(() => nextLeg());
  const first = attempts[0] ?? nextLeg();
  let answered = 0;
  const timed = steps.flatMap((step): Timed[] => {
    const when = at + step.at;
    const all = (...facts: Fact[]) => facts.map(fact => ({ at: when, fact }));
    if ('acknowledged' in step) {
      const leg = attempts[answered++] ?? first;
      const again = answered > 1 ? [request('invocation', leg, Content.ofJson(invocation), answered)] : [];
      return all(...again, answer(leg, step.acknowledged));
    }
    if ('consent' in step)
      return all({ kind: 'decided', what: 'consent', by: 'person', value: step.consent, calls });
    const leg = nextLeg();
    if ('message' in step) {
      const { message, attempt, status = 200 } = step;
      const body = typeof message === 'string' ? new Content(Buffer.from(message)) : Content.ofJson(message);
      return all(request('callback', leg, body, attempt), answer(leg, status));
    }
    const [purpose, body, status] = noticeOf(step, invocation);
    return all(request(purpose, leg, Content.ofJson(body)), answer(leg, status));
  });
  return [{ at, fact: request('invocation', first, Content.ofJson(invocation)) }, ...timed];
}

function noticeOf(
  step: Extract<CallStep, { chosen: number } | { notice: string }>,
  { id, group_id }: RecordedCall['invocation'],
): [RequestEvent['purpose'], object, number] {
  if ('chosen' in step) return ['choice', { id, selected: step.chosen }, step.status ?? 200];
  const cancelled = step.notice === 'cancel' ? { tool_call_id: id } : {};
  return [step.notice, { thread_id: group_id, ...cancelled }, 200];
}

/** A moment later what belongs together has happened. */
function stamped(timed: readonly Timed[]): Event[] {
  return timed
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, fact }, seq): Event => ({ ...fact, at, seq }));
}

function onHop(event: RequestEvent, hop: 'runtime-side' | 'tool-side'): Event {
  const value = event.body?.json.ok ? event.body.json.value : null;
  const isInvocation = event.purpose === 'invocation' && typeof value === 'object' && value !== null;
  if (!isInvocation) return { ...event, hop };
  return { ...event, hop, body: Content.ofJson({ ...value, callback_url: `http://127.0.0.1:1/${hop}` }) };
}
