import type { Event, EventOf } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { Side } from '../protocol/requirements.js';
import { readUrl } from '../util/url.js';
import type { CallEvidence } from './call.js';
import { cutBy, eventsOf, type SentMessages, type ServerEnd, type ToolCrash } from './server-end.js';
import { exitedServers, exitsIn, isWithin, plansIn, type ServerRun, startsIn } from './server-runs.js';
import { findStoppedServer } from './stopped-server.js';
import { findCauseOfExit, findUnreachable } from './suspects.js';

/** What ended the tool, or its server; null each if nothing did. */
export interface Crash {
  readonly toolCrash: ToolCrash | null;
  readonly exit: ServerEnd | null;
  /** The calls that it cut short: those in progress that are not known to be the cause. */
  readonly cutShort: ReadonlySet<CallEvidence>;
}

/** Finds out what crashed the tool, and which calls the crash cut short. */
export function findCrash(sent: SentMessages, events: readonly Event[], side: Side): Crash {
  const [first] = exitsIn(events);
  if (!first) return crashWithoutExit(sent, events, side);
  return plansIn(events).length > 0 ? crashInCheck(sent, events, first) : crashInRecording(sent, first);
}

function crashWithoutExit(sent: SentMessages, events: readonly Event[], side: Side): Crash {
  const isOfTool = side === 'tool' && events.every(({ kind }) => kind !== 'driver'); // a scenario ends its tools on purpose
  const stopped = isOfTool ? findStoppedServer(sent, events) : null;
  const found = findUnreachable(sent);
  const toolCrash = stopped && found && !isDistinct(found, stopped) ? null : found;
  if (toolCrash) {
    const period = { from: -1, to: Math.min(...toolCrash.later.events) };
    return { toolCrash, exit: null, cutShort: new Set(callsCutShort(sent.calls, toolCrash.message, period)) };
  }
  return { toolCrash: null, exit: stopped, cutShort: new Set(stopped?.open) };
}

/** A check accuses only what ended a server on which nothing else was done. */
function crashInCheck(sent: SentMessages, events: readonly Event[], first: EventOf<'exited'>): Crash {
  const runs = exitedServers(events);
  const repeatedRun = runs.find(({ onlyPlan }) => onlyPlan);
  const toolCrash = repeatedRun ? findCauseOfExit(repeatedRun, sent) : null;
  const cutShort = new Set(
    runs.flatMap(({ from, exit }) => callsCutShort(sent.calls, toolCrash?.message, { from, to: exit.seq })),
  );
  const repeats = startsIn(events).filter(seq => seq > first.seq).length;
  const isRepeated = repeatedRun !== undefined;
  const event = repeatedRun?.exit ?? first;
  const { seq, output } = event;
  const message = messageOf(event, toolCrash, repeatedRun);
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
      ...cutBy(first, sent, plansIn(events), cutShort),
    },
    cutShort,
  };
}

/** An exit that no single call causes, such as that at the tenth call, is its own cause; one by a signal may come from elsewhere. */
function causeOf({ how, seq }: EventOf<'exited'>): readonly number[] {
  return /\bSIG[A-Z]/.test(how) ? [] : [seq];
}

function messageOf(
  { how, message }: EventOf<'exited'>,
  crash: ToolCrash | null,
  repeatedRun: ServerRun | undefined,
): string {
  if (crash?.kind === 'malformed') return `the server ${how} after a malformed payload`;
  if (crash?.kind === 'notice') {
    const { method, url } = crash.message.request;
    return `the server ${how} after ${method} ${readUrl(url)?.pathname ?? url}`; // a call of the probe may have been open, too
  }
  return repeatedRun?.onlyPlan && !crash
    ? `the server ${how} during the probe ${repeatedRun.onlyPlan.plan}`
    : message;
}

/** Elsewhere, only the first call can be accused: any other one may have met what an earlier call left behind. */
function crashInRecording({ calls }: SentMessages, event: EventOf<'exited'>): Crash {
  const [call, ...others] = calls.filter(({ attempts: [first] }) => first && first.request.seq < event.seq);
  const isOpen = (each: CallEvidence) => event.calls?.includes(each.key) === true;
  const message = call && others.length === 0 && isOpen(call) ? call.attempts.at(-1) : undefined;
  const toolCrash: ToolCrash | null = message
    ? { kind: 'call', message, later: { events: [event.seq] }, exit: event, others: 0 }
    : null;
  const open = calls.filter(isOpen);
  const cutShort = new Set(message ? [] : open);
  const { seq, message: text, output } = event;
  return {
    toolCrash,
    exit: {
      seq,
      output,
      returned: null,
      message: text,
      open,
      cause: toolCrash?.message.events ?? [],
      isRepeated: null,
      repeats: 0,
      cutOff: eventsOf(cutShort),
      cutPlans: new Set<string>(),
    },
    cutShort,
  };
}

/** Whether a message ended the tool, and not one of the calls in progress. A call that was not called back may be the cause as well. */
function isDistinct({ kind, message }: ToolCrash, { open }: ServerEnd): boolean {
  if (kind === 'call') return false;
  if (kind === 'callback') return open.every(call => call.callbacks.length > 0);
  return message.failure === 'cut' || open.every(call => call.invocation === null);
}

/** The calls of a period that the crash cut off, except the one that caused it. @param to when the tool was gone */
function callsCutShort(
  calls: readonly CallEvidence[],
  cause: RoundTrip | undefined,
  { from, to }: Pick<ServerRun, 'from' | 'to'>,
): readonly CallEvidence[] {
  return calls.filter(call => {
    const { attempts, callbacks, expiries } = call;
    const [first] = attempts;
    if (!first || !isWithin({ from, to }, first.request)) return false;
    const isCause =
      cause !== undefined && [...attempts, ...callbacks].some(({ request }) => request === cause.request);
    const isSent = attempts.some(attempt => !attempt.isUnsent) && !isCause;
    const hasResult = call.messages('tool_result').some(({ callback }) => callback.status === 200);
    return isSent && !hasResult && !expiries.some(({ seq }) => seq < to);
  });
}
