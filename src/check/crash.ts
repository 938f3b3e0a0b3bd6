import type { Event, EventOf } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { Side } from '../protocol/requirements.js';
import { readUrl } from '../util/url.js';
import { messagesOf, type RecordedCall } from './recorded-call.js';
import { cutBy, eventsOf, type SentMessages, type ServerEnd, type ToolCrash } from './server-end.js';
import { exitedServers, exitsIn, isWithin, plansIn, type ServerRun, startsIn } from './server-runs.js';
import { findStoppedServer } from './stopped-server.js';
import { findCauseOfExit, findUnreachable } from './suspects.js';

/** What ended the tool, or its server; null each if nothing did. */
export interface Crash {
  readonly toolCrash: ToolCrash | null;
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
  if (!toolCrash || (stopped && !isCausedApartFromCalls(toolCrash, stopped)))
    return { toolCrash: null, exit: stopped, cutShort: new Set(stopped?.open) };
  const untilGone = { from: Number.NEGATIVE_INFINITY, to: Math.min(...toolCrash.later.events) };
  const cutShort = callsCutShort(sent.calls, toolCrash.message, untilGone);
  return { toolCrash, exit: null, cutShort: new Set(cutShort) };
}

/** Whether a message ended the tool, and not one of the calls in progress. A call that was not called back may be the cause as well. */
function isCausedApartFromCalls({ kind, message }: ToolCrash, { open }: ServerEnd): boolean {
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
  const exit = repeatedRun?.exit ?? first;
  return {
    toolCrash,
    exit: serverEnd(exit, sent, {
      message: exitText(exit, toolCrash, repeatedRun),
      cause: toolCrash?.message.events ?? (repeatedRun ? [] : exitAsCause(first)),
      isRepeated: repeatedRun !== undefined,
      repeats: startsIn(events).filter(seq => seq > first.seq).length,
      ...cutBy(first, sent, plansIn(events), cutShort),
    }),
    cutShort,
  };
}

/** An exit that no single call causes, such as that at the tenth call, is its own cause; one by a signal may come from elsewhere. */
function exitAsCause({ how, seq }: EventOf<'exited'>): readonly number[] {
  return /\bSIG[A-Z]/.test(how) ? [] : [seq];
}

function exitText(
  { how, message }: EventOf<'exited'>,
  crash: ToolCrash | null,
  repeatedRun: ServerRun | undefined,
): string {
  if (crash?.kind === 'malformed') return `the server ${how} after a malformed payload`;
  if (crash?.kind === 'notice') {
    // A call of the probe may have been in progress, too.
    const { method, url } = crash.message.request;
    return `the server ${how} after ${method} ${readUrl(url)?.pathname ?? url}`;
  }
  const plan = crash ? undefined : repeatedRun?.onlyPlan?.plan;
  return plan === undefined ? message : `the server ${how} during the probe ${plan}`;
}

/** Elsewhere, only the first call can be accused: any other one may have met what an earlier call left behind. */
function crashInRecording(sent: SentMessages, exit: EventOf<'exited'>): Crash {
  const open = openCalls(exit, sent);
  const [call, ...others] = sent.calls.filter(
    ({ attempts: [first] }) => first && first.request.seq < exit.seq,
  );
  const fatalRequest = call && others.length === 0 && open.includes(call) ? call.attempts.at(-1) : undefined;
  const cutShort = new Set(fatalRequest ? [] : open);
  return {
    toolCrash: fatalRequest
      ? { kind: 'call', message: fatalRequest, later: { events: [exit.seq] }, exit, others: 0 }
      : null,
    exit: serverEnd(exit, sent, {
      message: exit.message,
      cause: fatalRequest?.events ?? [],
      isRepeated: null,
      repeats: 0,
      cutOff: eventsOf(cutShort),
      cutPlans: new Set(),
    }),
    cutShort,
  };
}

/** The end of a server that this program started. */
function serverEnd(
  exit: EventOf<'exited'>,
  sent: SentMessages,
  findings: Omit<ServerEnd, 'seq' | 'output' | 'returned' | 'open'>,
): ServerEnd {
  const { seq, output } = exit;
  return { seq, output, returned: null, open: openCalls(exit, sent), ...findings };
}

/** The calls that were in progress when the server exited. */
function openCalls(
  { calls: keys = [] }: EventOf<'exited'>,
  { calls }: SentMessages,
): readonly RecordedCall[] {
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
