import type { Event, EventOf } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { Side } from '../protocol/requirements.js';
import { readUrl } from '../util/url.js';
import { messagesOf, type RecordedCall } from './recorded-call.js';
import { cutBy, eventsOf, type SentMessages, type ServerEnd, type ToolCrash } from './server-end.js';
import { exitedServers, exitsIn, isWithin, plansIn, type ServerRun, startsIn } from './server-runs.js';
import { findStoppedServer } from './stopped-server.js';
import { findCauseOfExit, findUnreachable } from './suspects.js';

/** What ended the tool. */
export interface Crash {
  /** The message after which nothing reached the tool; null if there is none, or it is not known. */
  readonly toolCrash: ToolCrash | null;
  /** The end of its server; null if nothing shows one. */
  readonly exit: ServerEnd | null;
  /** The calls that it cut short: those in progress that are not known to be the cause. */
  readonly cutShort: ReadonlySet<RecordedCall>;
}

/**
 * Finds out what crashed the tool, and which calls the crash cut short. What a recording can prove decides how:
 * - No server exited that this program started: the messages that nothing answered show it.
 * - A check repeats calls and probes after an exit, each alone on a new server: what ends that server too is the cause.
 * - Other recordings have one run: a call is the cause only if it is the first one.
 */
export function findCrash(sent: SentMessages, events: readonly Event[], side: Side): Crash {
  const [first] = exitsIn(events);
  if (!first) return crashWithoutExit(sent, events, side);
  return plansIn(events).length > 0 ? crashInCheck(sent, events, first) : crashInRecording(sent, first);
}

function crashWithoutExit(sent: SentMessages, events: readonly Event[], side: Side): Crash {
  // A scenario ends its tools on purpose.
  const isOfTool = side === 'tool' && events.every(({ kind }) => kind !== 'driver');
  const stopped = isOfTool ? findStoppedServer(sent, events) : null;
  const toolCrash = findUnreachable(sent);
  if (!toolCrash || (stopped && !wasEndedByMessage(toolCrash, stopped)))
    return { toolCrash: null, exit: stopped, cutShort: new Set(stopped?.open) };
  const untilGone = { from: Number.NEGATIVE_INFINITY, to: Math.min(...toolCrash.later.events) };
  const cutShort = callsCutShort(sent.calls, toolCrash.message, untilGone);
  return { toolCrash, exit: null, cutShort: new Set(cutShort) };
}

/** Whether a message ended the tool, and not one of the calls in progress. A call that was not called back may be the cause as well. */
function wasEndedByMessage({ kind, message }: ToolCrash, { open }: ServerEnd): boolean {
  if (kind === 'call') return false;
  if (kind === 'callback') return open.every(call => call.callbacks.length > 0);
  return message.failure === 'cut' || open.every(call => call.invocation === null);
}

/** A check accuses only what ended a server on which nothing else was done. */
function crashInCheck(sent: SentMessages, events: readonly Event[], first: EventOf<'exited'>): Crash {
  const runs = exitedServers(events);
  const repeatedRun = runs.find(({ onlyPlan }) => onlyPlan);
  const toolCrash = repeatedRun ? findCauseOfExit(repeatedRun, sent) : null;
  const cutShort = new Set(
    runs.flatMap(({ from, exit }) => callsCutShort(sent.calls, toolCrash?.message, { from, to: exit.seq })),
  );
  const { kind, message, cause } = repeatedRun ? repeatedExit(repeatedRun, toolCrash) : unrepeatedExit(first);
  const { seq, output, calls } = repeatedRun?.exit ?? first;
  const repeats = startsIn(events).filter(start => start > first.seq).length;
  const exit: ServerEnd = {
    seq,
    open: openCalls(calls, sent),
    message,
    cause,
    proof: { kind, output, repeats },
    ...cutBy(first, sent, plansIn(events), cutShort),
  };
  return { toolCrash, exit, cutShort };
}

function repeatedExit(run: ServerRun, crash: ToolCrash | null) {
  const message = repeatedText(run, crash);
  return { kind: 'repeated', message, cause: crash?.message.events ?? [] } as const;
}

/** An exit that no single call causes, such as that at the tenth call, is its own cause; one by a signal may come from elsewhere. */
function unrepeatedExit({ how, message, seq }: EventOf<'exited'>) {
  return { kind: 'not-repeated', message, cause: /\bSIG[A-Z]/.test(how) ? [] : [seq] } as const;
}

/** What ended a new server on which only one call was made, or one probe run. */
function repeatedText({ exit: { how, message }, onlyPlan }: ServerRun, crash: ToolCrash | null): string {
  if (crash?.kind === 'malformed') return `the server ${how} after a malformed payload`;
  if (crash?.kind === 'notice') {
    // A call of the probe may have been in progress, too.
    const { method, url } = crash.message.request;
    return `the server ${how} after ${method} ${readUrl(url)?.pathname ?? url}`;
  }
  return crash || !onlyPlan ? message : `the server ${how} during the probe ${onlyPlan.plan}`;
}

/** Elsewhere, only the first call can be accused: any other one may have met what an earlier call left behind. */
function crashInRecording(sent: SentMessages, exited: EventOf<'exited'>): Crash {
  const { seq, message, output, calls } = exited;
  const open = openCalls(calls, sent);
  const [call, ...others] = sent.calls.filter(({ attempts: [first] }) => first && first.request.seq < seq);
  const fatalRequest = call && others.length === 0 && open.includes(call) ? call.attempts.at(-1) : undefined;
  const cutShort = new Set(fatalRequest ? [] : open);
  const exit: ServerEnd = {
    seq,
    open,
    message,
    cause: fatalRequest?.events ?? [],
    proof: { kind: 'recorded', output },
    cutOff: eventsOf(cutShort),
    cutPlans: new Set(),
  };
  if (!fatalRequest) return { toolCrash: null, exit, cutShort };
  const toolCrash = {
    kind: 'call',
    message: fatalRequest,
    later: { events: [seq] },
    exit: exited,
    others: 0,
  } as const;
  return { toolCrash, exit, cutShort };
}

/** The calls that were in progress when the server exited. */
function openCalls(keys: readonly string[] = [], { calls }: SentMessages): readonly RecordedCall[] {
  return calls.filter(({ key }) => keys.includes(key));
}

/** The calls of a period that the crash cut off, except the one that caused it. @param to when the tool was gone */
function callsCutShort(
  calls: readonly RecordedCall[],
  cause: RoundTrip | undefined,
  { from, to }: Pick<ServerRun, 'from' | 'to'>,
): readonly RecordedCall[] {
  return calls.filter(call => {
    const { attempts, callbacks, expiries } = call;
    const [first] = attempts;
    if (!first || !isWithin({ from, to }, first.request)) return false;
    const isCause =
      cause !== undefined && [...attempts, ...callbacks].some(({ request }) => request === cause.request);
    const isSent = attempts.some(attempt => !attempt.isUnsent) && !isCause;
    const hasResult = messagesOf(call, 'tool_result').some(({ callback }) => callback.status === 200);
    return isSent && !hasResult && !expiries.some(({ seq }) => seq < to);
  });
}
