import type { Event, EventOf } from '../events/events.js';
import type { Side } from '../protocol/requirements.js';
import { readUrl } from '../util/url.js';
import { messagesOf, type RecordedCall } from './recorded-call.js';
import { eventsOf, interruptedBy, type SentMessages, type ServerEnd, type ToolCrash } from './server-end.js';
import { exitedServers, exitsIn, isWithin, plansIn, type ServerRun, startsIn } from './server-runs.js';
import { findStoppedServer } from './stopped-server.js';
import { findCauseOfExit, findUnreachable } from './suspects.js';

/** What ended the tool. */
export interface Crash {
  /** The message after which nothing reached the tool; null if there is none, or it is not known. */
  readonly toolCrash: ToolCrash | null;
  /** The end of its server; null if nothing shows one. */
  readonly exit: ServerEnd | null;
  /** The calls in progress that are not known to be the cause. */
  readonly interruptedCalls: ReadonlySet<RecordedCall>;
}

/**
 * Finds out what crashed the tool, and which calls the crash interrupted. What a recording can prove decides how:
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
    return { toolCrash: null, exit: stopped, interruptedCalls: new Set(stopped?.open) };
  const untilGone = { from: Number.NEGATIVE_INFINITY, to: Math.min(...toolCrash.later.events) };
  return { toolCrash, exit: null, interruptedCalls: new Set(callsInterrupted(untilGone, sent, toolCrash)) };
}

/** Whether a message ended the tool, and not one of the calls in progress. A call that was not called back may be the cause as well. */
function wasEndedByMessage({ kind, message }: ToolCrash, { open }: ServerEnd): boolean {
  switch (kind) {
    case 'call':
      return false;
    case 'callback':
      return open.every(call => call.callbacks.length > 0);
    case 'notice':
    case 'malformed':
      return message.failure === 'cut' || open.every(call => call.invocation === null);
  }
}

/** What an exit shows, without what it interrupted. */
type Exit = Pick<Crash, 'toolCrash'> & Pick<ServerEnd, 'seq' | 'message' | 'open' | 'cause' | 'proof'>;

/** A check accuses only what ended a server on which nothing else was done. */
function crashInCheck(sent: SentMessages, events: readonly Event[], first: EventOf<'exited'>): Crash {
  const runs = exitedServers(events);
  const repeats = startsIn(events).filter(start => start > first.seq).length;
  const repeatedRun = runs.find(({ onlyPlan }) => onlyPlan);
  const { toolCrash, ...exit } = repeatedRun
    ? repeatedExit(repeatedRun, sent, repeats)
    : unrepeatedExit(first, sent, repeats);
  const interruptedCalls = new Set(
    runs.flatMap(({ from, exit: { seq } }) => callsInterrupted({ from, to: seq }, sent, toolCrash)),
  );
  const interrupted = interruptedBy(first, sent, plansIn(events), interruptedCalls);
  return { toolCrash, exit: { ...exit, ...interrupted }, interruptedCalls };
}

/** The exit of a new server on which only one call was made, or one probe run. */
function repeatedExit(run: ServerRun, sent: SentMessages, repeats: number): Exit {
  const { seq, output, calls } = run.exit;
  const toolCrash = findCauseOfExit(run, sent);
  return {
    toolCrash,
    seq,
    message: repeatedText(run, toolCrash),
    open: openCalls(calls, sent),
    cause: toolCrash?.message.events ?? [],
    proof: { kind: 'repeated', output, repeats },
  };
}

function repeatedText({ exit: { how, message }, onlyPlan }: ServerRun, crash: ToolCrash | null): string {
  if (crash?.kind === 'malformed') return `the server ${how} after a malformed payload`;
  if (crash?.kind === 'notice') {
    // A call of the probe may have been in progress, too.
    const { method, url } = crash.message.request;
    return `the server ${how} after ${method} ${readUrl(url)?.pathname ?? url}`;
  }
  return crash || !onlyPlan ? message : `the server ${how} during the probe ${onlyPlan.plan}`;
}

/** The exit of the first server, which no single call causes: that at the tenth call, for example. It is its own cause. */
function unrepeatedExit(exited: EventOf<'exited'>, sent: SentMessages, repeats: number): Exit {
  const { seq, message, output, calls } = exited;
  return {
    toolCrash: null,
    seq,
    message,
    open: openCalls(calls, sent),
    cause: isBySignal(exited) ? [] : [seq], // anyone may have sent the signal
    proof: { kind: 'not-repeated', output, repeats },
  };
}

/** Whether a signal ended the server: `was ended by SIGKILL`, `exited with status 137 (SIGKILL)`. */
function isBySignal({ how }: EventOf<'exited'>): boolean {
  return /\bSIG[A-Z]/.test(how);
}

/** Elsewhere, only the first call can be accused: any other one may have met what an earlier call left behind. */
function crashInRecording(sent: SentMessages, exited: EventOf<'exited'>): Crash {
  const { seq, message, output, calls } = exited;
  const open = openCalls(calls, sent);
  const [call, ...others] = sent.calls.filter(({ attempts: [first] }) => first && first.request.seq < seq);
  const fatalRequest = call && others.length === 0 && open.includes(call) ? call.attempts.at(-1) : undefined;
  const interruptedCalls = new Set(fatalRequest ? [] : open);
  return {
    toolCrash: fatalRequest
      ? { kind: 'call', message: fatalRequest, later: { events: [seq] }, exit: exited, others: 0 }
      : null,
    exit: {
      seq,
      message,
      open,
      cause: fatalRequest?.events ?? [],
      proof: { kind: 'recorded', output },
      interruptedEvents: eventsOf(interruptedCalls),
      interruptedPlans: new Set(),
    },
    interruptedCalls,
  };
}

/** The calls that were in progress when the server exited. */
function openCalls(keys: readonly string[] = [], { calls }: SentMessages): readonly RecordedCall[] {
  return calls.filter(({ key }) => keys.includes(key));
}

/** The calls of a period that the crash interrupted, except the one that caused it. @param period until the tool was gone */
function callsInterrupted(
  period: Pick<ServerRun, 'from' | 'to'>,
  { calls }: SentMessages,
  crash: ToolCrash | null,
): readonly RecordedCall[] {
  return calls.filter(call => {
    const { attempts, callbacks, expiries } = call;
    const [first] = attempts;
    if (!first || !isWithin(period, first.request)) return false;
    const isCause = [...attempts, ...callbacks].some(({ request }) => request === crash?.message.request);
    const isSent = attempts.some(attempt => !attempt.isUnsent) && !isCause;
    const hasResult = messagesOf(call, 'tool_result').some(({ callback }) => callback.status === 200);
    return isSent && !hasResult && !expiries.some(({ seq }) => seq < period.to);
  });
}
