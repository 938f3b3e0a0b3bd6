import type { Event, EventOf } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { Side } from '../protocol/requirements.js';
import { readUrl } from '../util/url.js';
import type { CallEvidence } from './call.js';
import { findGone } from './gone.js';
import { cutBy, eventsOf, requestsIn, type SentMessages, type ServerEnd } from './server-end.js';
import { exitedServers, exitsIn, isWithin, plansIn, type ServerRun, startsIn } from './server-runs.js';

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

/** What ended the tool, or its server; null each if nothing did. */
export interface Crash {
  readonly toolCrash: ToolCrash | null;
  readonly exit: ServerEnd | null;
}

/** Finds out what crashed the tool, and marks the calls that the crash cut short. */
export function findCrash(sent: SentMessages, events: readonly Event[], side: Side): Crash {
  const [first] = exitsIn(events);
  if (!first) return withoutExit(sent, events, side);
  return plansIn(events).length > 0 ? inCheck(sent, events, first) : inRecording(sent, first);
}

function withoutExit(sent: SentMessages, events: readonly Event[], side: Side): Crash {
  const isOfTool = side === 'tool' && events.every(({ kind }) => kind !== 'driver'); // a scenario ends its tools on purpose
  const gone = isOfTool ? findGone(sent, events) : null;
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
function inCheck(sent: SentMessages, events: readonly Event[], first: EventOf<'exited'>) {
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
      returned: null,
      message,
      open: sent.calls.filter(({ key }) => event.calls?.includes(key)),
      cause: toolCrash?.message.events ?? (isRepeated ? [] : causeOf(first)),
      isRepeated,
      repeats,
      ...cutBy(first, sent, plansIn(events)),
    },
  };
}

/** An exit that no single call causes, such as that at the tenth call, is its own cause; one by a signal may come from elsewhere. */
function causeOf({ how, seq }: EventOf<'exited'>): readonly number[] {
  return /\bSIG[A-Z]/.test(how) ? [] : [seq];
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

/** Elsewhere, only the first call can be accused: any other one may have met what an earlier call left behind. */
function inRecording({ calls }: SentMessages, event: EventOf<'exited'>) {
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
      returned: null,
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
function crashOf({ from, exit, alone }: ServerRun, sent: SentMessages): ToolCrash | null {
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

/** Whether a message ended the tool, and not one of the calls in progress. A call that was not called back may be the cause as well. */
function isDistinct({ kind, message }: ToolCrash, { open }: ServerEnd): boolean {
  if (kind === 'call') return false;
  if (kind === 'callback') return open.every(call => call.callbacks.length > 0);
  return message.failure === 'cut' || open.every(call => call.invocation === null);
}

/** Finds the message that most likely crashed the tool; null if the last request was answered or aborted. */
function findUnreachable(sent: SentMessages): ToolCrash | null {
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

function suspectsIn({ calls, closes, cancels }: SentMessages): readonly Suspect[] {
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
