import type { Event, EventOf, RequestEvent } from '../events/events.js';
import { type RoundTrip, roundTripsIn } from '../events/round-trips.js';
import type { Side } from '../protocol/requirements.js';
import { truncate } from '../util/text.js';
import { readUrl } from '../util/url.js';
import type { CallEvidence, Discovery } from './call.js';

/** A tool that crashed: nothing after `message` reached it. */
export interface ToolCrash {
  /** What the tool received, or sent without success, just before the crash. */
  readonly kind: 'malformed' | 'notice' | 'callback' | 'call';
  readonly message: RoundTrip;
  /** The proof that the tool was gone: the first later request, which could not connect, or the exit of its server. */
  readonly later: { readonly events: readonly number[] };
  /** The exit of its server; null if this program did not start the server. */
  readonly exit: EventOf<'exited'> | null;
  /** How many messages of the same kind were sent at the same time. */
  readonly others: number;
}

/** The end of a server: the exit of one that this program started and did not stop, or of another one that refuses connections. */
export interface ServerExit {
  /** The `seq` of the event that proves it. */
  readonly seq: number;
  /** `the server exited with status 1 during …` */
  readonly message: string;
  /** The last lines that it wrote to stderr; null if this program did not start it. */
  readonly output: readonly string[] | null;
  /** The calls in progress. */
  readonly open: readonly CallEvidence[];
  /** The messages because of which a rule fails, by the `seq` of their events; none if the cause is not known. */
  readonly cause: readonly number[];
  /** In a check: whether a new server exited too, with nothing else in progress. Null in other recordings. */
  readonly isRepeated: boolean | null;
  /** The number of new servers that were started to repeat one call or one probe alone. */
  readonly repeats: number;
  /** The events of the calls that it ended. */
  readonly cutOff: ReadonlySet<number>;
  /** The plans of a check with such a call, or without any call. */
  readonly cutPlans: ReadonlySet<string>;
}

/** What was sent to a tool. */
export interface Sent {
  /** In the order in which they were made. */
  readonly calls: readonly CallEvidence[];
  readonly discoveries: readonly Discovery[];
  readonly closes: readonly RoundTrip[];
  readonly cancels: readonly RoundTrip[];
  readonly migrations: readonly RoundTrip[];
}

/** The plan with which a check begins, and begins again on each new server. */
export const START_PLAN = 'discovery';

/** The part of a check in which one server ran, by `seq`. */
interface ServerRun {
  readonly from: number;
  readonly to: number;
  readonly exit: EventOf<'exited'>;
  /** The plan of the only call or probe on this server; undefined on the first server. */
  readonly alone: EventOf<'planned'> | undefined;
}

function isWithin({ from, to }: Pick<ServerRun, 'from' | 'to'>, { seq }: Pick<Event, 'seq'>): boolean {
  return seq > from && seq < to;
}

function plansIn(events: readonly Event[]): readonly EventOf<'planned'>[] {
  return events.filter(event => event.kind === 'planned').filter(({ by }) => by === 'probe');
}

function startsIn(events: readonly Event[]): readonly number[] {
  return plansIn(events).flatMap(({ plan, seq }) => (plan === START_PLAN ? [seq] : []));
}

/** The servers of a check that exited. */
function exitedServers(events: readonly Event[]): readonly ServerRun[] {
  const plans = plansIn(events);
  const starts = startsIn(events);
  return exitsIn(events).map(exit => {
    const from = starts.findLast(seq => seq < exit.seq) ?? -1;
    const to = starts.find(seq => seq > exit.seq) ?? Number.POSITIVE_INFINITY;
    const alone = plans.find(plan => plan.newServer && isWithin({ from, to: exit.seq }, plan));
    return { from, to, exit, alone };
  });
}

function exitsIn(events: readonly Event[]): readonly EventOf<'exited'>[] {
  return events.filter(event => event.kind === 'exited');
}

/** An invocation and a callback show how far their call came. */
const KEPT: ReadonlySet<RequestEvent['purpose']> = new Set(['invocation', 'callback']);

/**
 * The events of a check that rules may judge if its server exited. Of the new servers, only the one that exited too counts. The requests
 * that got no answer because of an exit prove nothing; a probe that was repeated alone keeps them, since one of them is the cause.
 */
export function judgeableEvents(events: readonly Event[]): readonly Event[] {
  const [first, ...others] = exitedServers(events);
  if (!first) return events;
  const proof = others.find(({ alone }) => alone);
  const counting = events.filter(event => event.seq < first.to || (proof && isWithin(proof, event)));
  const trips = [...roundTripsIn(counting).values()];
  const runs = proof?.alone?.calls ? [first, proof] : [first];
  const cut = runs.flatMap(run => cutOff(run, trips)).filter(({ request }) => !KEPT.has(request.purpose));
  const legs = new Set<string | undefined>(cut.map(({ request }) => request.leg));
  return counting.filter(event => !('leg' in event && legs.has(event.leg)));
}

/** The requests that got no answer, and after which no other request got one. */
function cutOff(run: ServerRun, trips: readonly RoundTrip[]): readonly RoundTrip[] {
  const own = trips.filter(({ request }) => isWithin(run, request));
  const alive = own.reduce(
    (last, { request, status }) => (status === null ? last : Math.max(last, request.seq)),
    -1,
  );
  return own.filter(
    ({ status, failure, lastSeq }) => status === null && failure !== 'timed-out' && lastSeq > alive,
  );
}

/** Whether the end of a server fails the run, also if no rule does. */
export function isFatalExit({
  isRepeated,
  output,
  cause,
}: Pick<ServerExit, 'isRepeated' | 'output' | 'cause'>): boolean {
  return isRepeated === true || (output === null && cause.length > 0);
}

/** What ended the tool, or its server; null each if nothing did. */
export interface Crash {
  readonly toolCrash: ToolCrash | null;
  readonly exit: ServerExit | null;
}

/** Finds out what crashed the tool, and marks the calls that the crash cut short. */
export function findCrash(sent: Sent, events: readonly Event[], side: Side): Crash {
  const [first] = exitsIn(events);
  if (!first) return withoutExit(sent, events, side);
  return plansIn(events).length > 0 ? inCheck(sent, events, first) : inRecording(sent, first);
}

function withoutExit(sent: Sent, events: readonly Event[], side: Side): Crash {
  const isOfTool = side === 'tool' && events.every(({ kind }) => kind !== 'driver'); // a scenario ends its tools on purpose
  const gone = isOfTool ? findGone(sent, plansIn(events)) : null;
  const found = findUnreachable(sent);
  const toolCrash = gone && found && !isDistinct(found, gone) ? null : found;
  if (gone && !toolCrash) {
    for (const call of gone.open) call.isCutShort = true;
    return { toolCrash: null, exit: gone };
  }
  if (toolCrash)
    markCutShort(sent.calls, toolCrash.message, { from: -1, to: Math.min(...toolCrash.later.events) });
  return { toolCrash, exit: null };
}

/** A check accuses only what ended a server on which nothing else was done. */
function inCheck(sent: Sent, events: readonly Event[], first: EventOf<'exited'>) {
  const runs = exitedServers(events);
  const proof = runs.find(({ alone }) => alone);
  const toolCrash = proof ? crashOf(proof, sent) : null;
  for (const run of runs) markCutShort(sent.calls, toolCrash?.message, { from: run.from, to: run.exit.seq });
  const repeats = startsIn(events).filter(seq => seq > first.seq).length;
  const isRepeated = proof !== undefined;
  const event = proof?.exit ?? first;
  const { seq, output } = event;
  const message = messageOf(event, toolCrash, proof);
  return {
    toolCrash,
    exit: {
      seq,
      output,
      message,
      open: sent.calls.filter(({ key }) => event.calls?.includes(key)),
      cause: toolCrash?.message.events ?? [],
      isRepeated,
      repeats,
      ...cutBy(first, sent, plansIn(events)),
    },
  };
}

function messageOf(
  { how, message }: EventOf<'exited'>,
  crash: ToolCrash | null,
  proof: ServerRun | undefined,
): string {
  if (crash?.kind === 'malformed') return `the server ${how} after a malformed payload`;
  if (crash?.kind === 'notice') {
    const { method, url } = crash.message.request;
    return `the server ${how} after ${method} ${readUrl(url)?.pathname ?? url}`; // a call of the probe may have been open, too
  }
  return proof?.alone && !crash ? `the server ${how} during the probe ${proof.alone.plan}` : message;
}

/** What the exit of the first server of a check cut off, or prevented. */
function cutBy(first: Pick<Event, 'seq'>, { calls }: Sent, plans: readonly EventOf<'planned'>[]) {
  const isUnanswered = ({ attempts }: CallEvidence) => attempts.every(({ status }) => status === null);
  const cut = calls.filter(
    call =>
      call.isCutShort ||
      (isUnanswered(call) && call.attempts.every(({ request }) => request.seq < first.seq)),
  );
  const keys = new Set(cut.map(({ key }) => key));
  const made = plans.filter(({ newServer }) => !newServer);
  const whole = made.filter(({ calls: own = [] }) => own.length > 0 && !own.some(key => keys.has(key)));
  const isCut = ({ plan }: EventOf<'planned'>) =>
    made.some(each => each.plan === plan && each.calls?.some(key => keys.has(key))) ||
    !whole.some(each => each.plan === plan);
  return { cutOff: eventsOf(cut), cutPlans: new Set(made.filter(isCut).map(({ plan }) => plan)) };
}

function eventsOf(calls: readonly CallEvidence[]): ReadonlySet<number> {
  return new Set(
    calls.flatMap(({ attempts, callbacks, selections }) =>
      [attempts, callbacks, selections].flat().flatMap(({ events }) => events),
    ),
  );
}

/** Elsewhere, only the first call can be accused: any other one may have met what an earlier call left behind. */
function inRecording({ calls }: Sent, event: EventOf<'exited'>) {
  const [call, ...others] = calls.filter(({ attempts: [first] }) => first && first.request.seq < event.seq);
  const isOpen = (each: CallEvidence) => event.calls?.includes(each.key) === true;
  const message = call && others.length === 0 && isOpen(call) ? call.attempts.at(-1) : undefined;
  for (const each of calls) each.isCutShort = isOpen(each) && message === undefined;
  const toolCrash = message ? crashBy('call', message, event) : null;
  const cutOff = eventsOf(calls.filter(({ isCutShort }) => isCutShort));
  const { seq, message: text, output } = event;
  return {
    toolCrash,
    exit: {
      seq,
      output,
      message: text,
      open: calls.filter(isOpen),
      cause: toolCrash?.message.events ?? [],
      isRepeated: null,
      repeats: 0,
      cutOff,
      cutPlans: new Set<string>(),
    },
  };
}

function crashBy(
  kind: ToolCrash['kind'],
  message: RoundTrip,
  exit: EventOf<'exited'>,
  others = 0,
): ToolCrash {
  return { kind, message, later: { events: [exit.seq] }, exit, others };
}

/** The cause of the exit of a server on which only one call was made, or one probe run. */
function crashOf({ from, exit, alone }: ServerRun, sent: Sent): ToolCrash | null {
  const suspects = suspectsIn(sent).filter(
    ({ message }) => isWithin({ from, to: exit.seq }, message.request) && !message.isUnsent,
  );
  // A callback that the exit broke is no cause.
  const causes = suspects.filter(
    ({ kind, message: { broken } }) => kind !== 'callback' || broken?.code !== 'ECONNRESET',
  );
  const own = alone?.calls ? causes.filter(({ kind }) => kind !== 'notice') : causes;
  const [worst] = own.toSorted(byRank);
  if (!worst) return null;
  const others = own.filter(({ kind }) => kind === worst.kind).length - 1;
  const isAmbiguous = worst.kind === 'call' && others > 0; // an earlier call of the probe may be the cause
  return isAmbiguous ? null : crashBy(worst.kind, worst.message, exit, others);
}

function requestsIn({ calls, discoveries, closes, cancels, migrations }: Sent): readonly RoundTrip[] {
  return [
    ...calls.flatMap(({ attempts, selections }) => [...attempts, ...selections]),
    ...[discoveries, closes, cancels, migrations].flat(),
  ].sort((one, other) => one.request.seq - other.request.seq);
}

function isConnectionRefused({ broken }: RoundTrip): boolean {
  return broken?.code === 'ECONNREFUSED' && broken.phase === 'connect';
}

function originOf({ request: { url } }: RoundTrip): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/**
 * The end of a server that this program did not start: it had answered, and then refused every connection. Nothing shows which of the
 * calls in progress ended it: a rule fails for those that it had acknowledged, or for all of them if it had acknowledged none. A check
 * calls without a pause; in a recording the user may have stopped the server later, unless a call timed out or its connection broke.
 */
function findGone(sent: Sent, plans: readonly EventOf<'planned'>[]): ServerExit | null {
  const requests = requestsIn(sent);
  const last = requests.at(-1);
  if (!last || !isConnectionRefused(last)) return null;
  const own = requests.filter(each => originOf(each) === originOf(last));
  const alive = own.findLastIndex(({ status }) => status !== null);
  const refused = own.slice(alive + 1).find(isConnectionRefused);
  if (alive < 0 || !refused) return null;
  const isOfServer = ({ attempts }: CallEvidence) =>
    attempts.some(each => originOf(each) === originOf(last) && !each.isUnsent);
  const isAliveAt = own[alive]?.request.seq ?? 0;
  const open = sent.calls.filter(
    call =>
      isOfServer(call) &&
      call.attempts.every(
        ({ status, request }) => (status ?? 200) === 200 && request.seq < refused.lastSeq,
      ) &&
      !call.messages('tool_result').some(({ callback }) => callback.status === 200) &&
      !call.expiries.some(({ seq }) => seq < isAliveAt) &&
      call.canceledAtSeq > isAliveAt,
  );
  const isProbed = plans.length > 0;
  if (!isProbed && open.length === 0) return null;
  const cause = accusedOf(open, isProbed).flatMap(({ attempts }) => attempts.flatMap(({ events }) => events));
  const { cutOff: ofCalls, cutPlans } = cutBy({ seq: Number.POSITIVE_INFINITY }, sent, plans);
  const unanswered = own.slice(alive + 1).flatMap(({ status, events }) => (status === null ? events : []));
  return {
    seq: refused.lastSeq,
    message: `the tool stopped answering (ECONNREFUSED)${progressOf(open)}`,
    output: null,
    open,
    cause,
    isRepeated: null,
    repeats: 0,
    cutOff: new Set([...ofCalls, ...eventsOf(open), ...unanswered]),
    cutPlans,
  };
}

function accusedOf(open: readonly CallEvidence[], isProbed: boolean): readonly CallEvidence[] {
  const hasFailed = ({ timeout, attempts }: CallEvidence) =>
    timeout !== undefined || attempts.at(-1)?.failure === 'cut';
  if (!isProbed && !open.some(hasFailed)) return [];
  const acknowledged = open.filter(isAcknowledged);
  return acknowledged.length > 0 ? acknowledged : open;
}

function isAcknowledged({ attempts }: CallEvidence): boolean {
  return attempts.some(({ status }) => status === 200);
}

function progressOf([first, ...others]: readonly CallEvidence[]): string {
  if (!first) return '';
  if (others.length > 0) return ` with ${others.length + 1} calls in progress`;
  const { operation } = first.invocation ?? {};
  return operation === undefined ? ' during a call' : ` during \`${truncate(operation, MAX_NAME)}\``;
}

/** Maximum length of the name of an operation in a message, in characters. */
const MAX_NAME = 60;

/** Whether a message ended the tool, and not one of the calls in progress. A call that was not called back may be the cause as well. */
function isDistinct({ kind }: ToolCrash, { open }: ServerExit): boolean {
  if (kind !== 'callback') return kind !== 'call';
  return open.every(call => call.callbacks.length > 0);
}

/** Finds the message that most likely crashed the tool; null if the last request was answered or aborted. */
function findUnreachable(sent: Sent): ToolCrash | null {
  const requests = requestsIn(sent);
  const last = requests.findLastIndex(({ failure }) => failure === null || failure === 'aborted');
  const failed = requests.slice(last + 1);
  const alive = requests[last]?.request.seq ?? -1;
  const firstFailure = failed.reduce(
    (first, { lastSeq }) => Math.min(first, lastSeq),
    failed[0]?.lastSeq ?? -1,
  );
  const suspects = suspectsIn(sent).filter(
    ({ message }) => message.request.seq <= firstFailure && !message.isUnsent && message.lastSeq >= alive,
  );
  const [worst] = suspects.toSorted(byRank);
  const later = worst && failed.find(({ request }) => request.seq > worst.message.lastSeq);
  if (!worst || !later) return null;
  const others = suspects.filter(({ kind }) => kind === worst.kind).length - 1;
  return { ...worst, later, exit: null, others };
}

type Suspect = Pick<ToolCrash, 'kind' | 'message'>;

function suspectsIn({ calls, closes, cancels }: Sent): readonly Suspect[] {
  const ofKind = (kind: ToolCrash['kind'], messages: readonly RoundTrip[]) =>
    messages.map(message => ({ kind, message }));
  return [
    ...ofKind('notice', [...closes, ...cancels]),
    ...calls.flatMap(({ invocation, attempts, callbacks }) => [
      ...ofKind(invocation ? 'call' : 'malformed', attempts),
      ...ofKind(
        'callback',
        callbacks.filter(({ broken, status }) => broken !== null || (status ?? 200) >= 400),
      ),
    ]),
  ];
}

function byRank(one: Suspect, other: Suspect): number {
  return rankOf(one) - rankOf(other) || other.message.request.seq - one.message.request.seq;
}

/** A closed connection is the best evidence, then a message that no tool expects; an ordinary call is the worst. */
function rankOf({ kind, message }: Suspect): number {
  if (kind === 'call') return 3;
  if (message.failure === 'cut') return 0;
  return kind === 'callback' ? 2 : 1;
}

/** Marks the calls that the crash cut off, except the one that caused it. @param to when the tool was gone */
function markCutShort(
  calls: readonly CallEvidence[],
  cause: RoundTrip | undefined,
  { from, to }: Pick<ServerRun, 'from' | 'to'>,
): void {
  for (const call of calls) {
    const { attempts, expiries } = call;
    const [first] = attempts;
    if (!first || !isWithin({ from, to }, first.request)) continue;
    const isCause =
      cause !== undefined &&
      [...attempts, ...call.callbacks].some(({ request }) => request === cause.request);
    const isSent = attempts.some(attempt => !attempt.isUnsent) && !isCause;
    const hasResult = call.messages('tool_result').some(({ callback }) => callback.status === 200);
    call.isCutShort = isSent && !hasResult && !expiries.some(({ seq }) => seq < to);
  }
}
