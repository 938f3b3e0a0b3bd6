import type { Event } from '../events/events.js';
import { type RoundTrip, roundTripsIn } from '../events/round-trips.js';
import { truncate } from '../util/text.js';
import { valueAt } from '../util/values.js';
import { isAcknowledged, messagesOf, type RecordedCall } from './recorded-call.js';
import {
  eventsOf,
  interruptedBy,
  type ReturnedServer,
  requestsIn,
  type SentMessages,
  type ServerEnd,
} from './server-end.js';
import { firstRefusal, isConnectionRefused, originOf, plansIn } from './server-runs.js';

/** Maximum length of the name of an operation in a message, in characters. */
const MAX_NAME = 60;

/**
 * The end of a server that this program did not start: it had answered, and then refused every connection. Nothing shows which of the
 * calls in progress ended it: a rule fails for those that it had acknowledged, or for all of them if it had acknowledged none. A check
 * calls without a pause; in a recording the user may have stopped the server later, unless a call timed out or its connection broke.
 */
export function findStoppedServer(sent: SentMessages, events: readonly Event[]): ServerEnd | null {
  const plans = plansIn(events);
  const isProbed = plans.length > 0;
  const requests = requestsIn(sent);
  const refused = isProbed ? firstRefusal(requests) : lastRefusal(requests);
  if (!refused) return null;
  const toServer = requests.filter(each => originOf(each) === originOf(refused));
  const answered = toServer.filter(({ status, lastSeq }) => status !== null && lastSeq < refused.lastSeq);
  const lastAnsweredSeq = Math.max(...answered.map(({ request }) => request.seq));
  const open = sent.calls.filter(call => isOpenAt(call, refused, lastAnsweredSeq));
  if (!isProbed && open.length === 0) return null;
  const cause = callsToBlame(open, isProbed).flatMap(({ attempts }) =>
    attempts.flatMap(({ events }) => events),
  );
  const none = new Set<RecordedCall>(); // the calls in progress are added below
  const { interruptedEvents: ofCalls, interruptedPlans } = interruptedBy(
    { seq: Number.POSITIVE_INFINITY },
    sent,
    plans,
    none,
  );
  const unanswered = toServer.flatMap(({ status, request, events: ofRequest }) =>
    status === null && request.seq > lastAnsweredSeq ? ofRequest : [],
  );
  const returned = isProbed ? whatAnsweredAfter(refused, events) : null;
  const later = returned === null ? '' : LATER[returned];
  return {
    seq: refused.lastSeq,
    message: `the tool stopped answering (ECONNREFUSED)${progressOf(open)}${later}`,
    open,
    cause,
    proof: { kind: 'refused', returned },
    interruptedEvents: new Set([...ofCalls, ...eventsOf(open), ...unanswered]),
    interruptedPlans,
  };
}

const LATER = {
  same: '; it answers again now',
  other: '; another program answers at its address now',
} as const satisfies Record<ReturnedServer, string>;

/** Whether a call was in progress when the server stopped. @param lastAnsweredSeq the last request that the server answered */
function isOpenAt(call: RecordedCall, refused: RoundTrip, lastAnsweredSeq: number): boolean {
  const { attempts, expiries, canceledAtSeq } = call;
  // The server got it.
  const isReceived = attempts.some(each => originOf(each) === originOf(refused) && !each.isUnsent);
  // The server did not refuse it, and it was not sent again later.
  const isNotRefused = attempts.every(
    ({ status, request }) => (status ?? 200) === 200 && request.seq < refused.lastSeq,
  );
  const hasResult = messagesOf(call, 'tool_result').some(({ callback }) => callback.status === 200);
  // It had not ended for the runtime while the server still answered.
  const isAwaited = !expiries.some(({ seq }) => seq < lastAnsweredSeq) && canceledAtSeq > lastAnsweredSeq;
  return isReceived && isNotRefused && !hasResult && isAwaited;
}

/** The first refused connection of a recording after which no request was answered. */
function lastRefusal(requests: readonly RoundTrip[]): RoundTrip | undefined {
  const last = requests.at(-1);
  if (!last || !isConnectionRefused(last)) return undefined;
  const own = requests.filter(each => originOf(each) === originOf(last));
  const lastAnswered = own.findLastIndex(({ status }) => status !== null);
  return lastAnswered < 0 ? undefined : own.slice(lastAnswered + 1).find(isConnectionRefused);
}

/** What the last answered discovery after a refused connection shows. A proxy that answers 5xx shows nothing. */
function whatAnsweredAfter(refused: RoundTrip, events: readonly Event[]): ReturnedServer | null {
  const discoveries = [...roundTripsIn(events).values()].filter(
    ({ request, status }) => request.purpose === 'discovery' && status !== null,
  );
  const before = discoveries.findLast(({ lastSeq, status }) => lastSeq < refused.lastSeq && status === 200);
  const after = discoveries.findLast(
    ({ request, status }) => request.seq > refused.lastSeq && (status ?? 500) < 500,
  );
  if (!before || !after) return null;
  return after.status === 200 && namesOf(after) === namesOf(before) ? 'same' : 'other';
}

/** The names of a toolset and its tools. */
function namesOf({ response }: RoundTrip): string {
  const json = response?.body?.json;
  const toolset = json?.ok ? json.value : undefined;
  const tools = valueAt(toolset, 'tools');
  const names = Array.isArray(tools) ? tools.map(tool => valueAt(tool, 'name')) : [];
  return JSON.stringify([valueAt(toolset, 'name'), names.map(String).sort()]);
}

/** The calls for which a rule fails: the acknowledged ones, or all if none was acknowledged. */
function callsToBlame(open: readonly RecordedCall[], isProbed: boolean): readonly RecordedCall[] {
  const hasFailed = ({ timeout, attempts }: RecordedCall) =>
    timeout !== undefined || attempts.at(-1)?.failure === 'cut';
  if (!isProbed && !open.some(hasFailed)) return [];
  const acknowledged = open.filter(isAcknowledged);
  return acknowledged.length > 0 ? acknowledged : open;
}

function progressOf([first, ...others]: readonly RecordedCall[]): string {
  if (!first) return '';
  if (others.length > 0) return ` with ${others.length + 1} calls in progress`;
  const { operation } = first.invocation ?? {};
  return operation === undefined ? ' during a call' : ` during \`${truncate(operation, MAX_NAME)}\``;
}
