import type { Case } from '../fixtures/cases/case.js';
import type { ListenerOptions } from '../runtime/callback-server.js';
import { closeThread } from '../runtime/notices.js';
import type { Wire } from '../runtime/wire.js';
import type { Clock } from '../system/clock.js';
import { askAgain, askForToolset } from './ask-again.js';
import { type Callable, type Callables, callablesOf } from './callables.js';
import { type Desk, patienceOf, recordPlan } from './desk.js';
import { inLanes } from './lanes.js';
import { type ProbeListener, startProbeListener } from './listener.js';
import { heardByMany } from './patience.js';
import { PROBES } from './probes/index.js';
import { validCall } from './probes/valid-call.js';
import { type Running, runAll } from './run-all.js';
import { Stopwatch } from './stopwatch.js';
import { type Survey, survey } from './survey.js';
import { startTrials, type Trials, type Tried } from './trials.js';

export interface ProbeOptions extends Running {
  /** All facts go to its log. */
  readonly wire: Wire;
  readonly clock: Clock;
  readonly listener: ListenerOptions;
  /** Base of the tool server. */
  readonly url: string;
  /** Named by hand: called whatever their annotations say. */
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** How long each observation is waited for. */
  readonly probeTimeoutMs: number;
  /** A consent URL for a person. */
  readonly onConsent: (url: string) => void;
}

const NOTHING: Callables = { callables: [], warnings: [] };
const DISCOVERY = { id: 'discovery', checks: ['TOOL-DISCOVER', 'TOOL-NAMES'] } as const;
/** A callback hangs for so much of the window: the rest of it is for the next attempt. */
const HANGS_FOR = 0.5;
const LANES = 8;

/**
 * Asks a tool server what it offers, tries it with everything a runtime may do, and listens. What was sent and what came of it is in the
 * log, and nowhere else: the rules judge that.
 * @throws ProtocolCliError `unreachable` or `no-discovery` where there is nothing to check, `unknown-operation` for a name that is none,
 * `port-in-use`.
 */
export async function runProbes(given: ProbeOptions): Promise<void> {
  const options = { ...given, signal: heardByMany(given.signal) };
  const { wire, clock, signal, probeTimeoutMs } = options;
  const stopwatch = new Stopwatch(wire.log);
  const isBroken = watchBreaks(wire.log);
  recordPlan(wire, DISCOVERY);
  const found = await survey(wire, options.url);
  const { callables, warnings } = found.toolset ? await callablesOf(found.toolset, options) : NOTHING;
  for (const message of warnings) wire.log.emit({ kind: 'warned', message });
  const settings = { clock, signal, hangMs: probeTimeoutMs * HANGS_FOR };
  const listener = await startProbeListener(wire.log, options.listener, settings);
  try {
    const desk = deskFor(options, found, listener);
    const trying = tryingOf(desk, { callables, cases: found.toolset ? options.cases : [] });
    const { toolset } = found;
    await runAll(PROBES, { desk, toolset, callables, tryAll: trying.begin }, options);
    await trying.finish();
    if (options.wants('TOOL-ACK')) await askAgain(desk, stopwatch, mayRepeat(found, callables));
    await leave(desk);
    if (isBroken()) await askForToolset(desk); // whether the tool is still there
  } finally {
    await listener.close();
  }
}

/** What may be called again and again, or is nothing that there is. */
function mayRepeat({ toolset }: Survey, callables: readonly Callable[]) {
  return (operation: string) => {
    const isKnown = toolset?.tools.some(({ name }) => name === operation) === true;
    return !isKnown || callables.some(({ tool, isHarmless }) => isHarmless && tool.name === operation);
  };
}

function deskFor(options: ProbeOptions, { base, toolset }: Survey, listener: ProbeListener): Desk {
  const { wire, clock, signal, probeTimeoutMs, wants, onConsent } = options;
  const endpoint = toolset?.endpoint ?? base;
  const silence = watchSilence(wire.log, probeTimeoutMs);
  return {
    ...{ wire, clock, signal, listener, base, endpoint, wants, onConsent, threads: new Set() },
    get windowMs() {
      return silence.windowMs();
    },
    get answerMs() {
      return silence.answerMs();
    },
  };
}

/** Whether the last request of ours that ended was not answered. */
function watchBreaks(log: Wire['log']): () => boolean {
  const ours = new Set<string>();
  let isBroken = false;
  log.subscribe(event => {
    if (event.kind === 'request' && event.purpose !== 'callback') ours.add(event.leg);
    if ((event.kind === 'response' || event.kind === 'broken') && ours.delete(event.leg))
      isBroken = event.kind === 'broken';
  });
  return () => isBroken;
}

/** How long a tool that was silent for a whole window is waited for, in ms: nothing is expected of it any more. */
const SILENT_MS = 1_000;

/** The windows of a run: short for a tool that has sent no callback, or has answered no call, within a whole one. */
function watchSilence(log: Wire['log'], windowMs: number) {
  const calls = new Set<string>();
  let isOver = false;
  let hasSpoken = false;
  let hasAnswered = false;
  log.subscribe(event => {
    if (event.kind === 'request' && event.purpose === 'callback') hasSpoken = true;
    if (event.kind === 'request' && event.purpose === 'invocation') calls.add(event.leg);
    if (event.kind === 'response' && calls.delete(event.leg)) hasAnswered = true;
    if (event.kind === 'expired' && event.afterMs >= windowMs) isOver = true;
  });
  const unless = (isAlive: boolean) => (isOver && !isAlive ? Math.min(SILENT_MS, windowMs) : windowMs);
  return { windowMs: () => unless(hasSpoken), answerMs: () => unless(hasSpoken || hasAnswered) };
}

/** The trials are made once, by the first who needs them; what somebody has written down is tried in any case. */
function tryingOf(desk: Desk, tried: Tried) {
  let trials: Trials | undefined;
  const begin = () => {
    trials ??= startTrials(desk, validCall, tried);
    return trials;
  };
  if (tried.cases.length > 0) begin();
  return { begin, finish: async () => trials?.finished };
}

/** The threads that were invented are over; a tool that does not answer is not told of all of them. */
async function leave(desk: Desk): Promise<void> {
  const { wire, base, threads, signal } = desk;
  let isThere = true;
  await inLanes([...threads], LANES, async thread => {
    if (!isThere || signal.aborted) return;
    const { kind } = await closeThread(wire, base, thread, patienceOf(desk));
    isThere = kind === 'answered';
  });
}
