import type { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { type Log, ownTime } from '../../events/log.js';
import type { Case } from '../../fixtures/cases.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Toolset } from '../../protocol/toolset.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { DISCOVERY_HINTS, type DiscoveryHints, findDocument, recordLoaded } from '../../runtime/discover.js';
import { closeThread, type Wire } from '../../runtime/notices.js';
import type { Clock } from '../../system/drafts.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { cameBy, heardByMany, type ProbeListener, startProbeListener } from './callback-listener.js';
import {
  type Desk,
  inLanes,
  type Plan,
  type Prober,
  patienceOf,
  proberFor,
  recordPlan,
  type Stimulus,
} from './probe-call.js';
import { PROBES, type Probe, type Target, validCall } from './probes.js';
import {
  type Callable,
  type Callables,
  callablesOf,
  startTrials,
  type Trials,
  type Tried,
} from './sample-calls.js';

/** How one call was acknowledged, in ms since the start. */
interface Acknowledgement {
  readonly request: RequestEvent;
  endedAt: number;
  resultAt: number;
  /** What the toolset took before, in ms. */
  readonly usualMs: number;
}

/** Times the acknowledgements of a run as the rule does. */
class Stopwatch {
  readonly #byLeg = new Map<string, Acknowledgement>();
  readonly #byKey = new Map<string, Acknowledgement>();
  #discovery: RequestEvent | undefined;
  #usualMs = 0;

  constructor(log: Log) {
    log.subscribe(event => this.#hear(event));
  }

  isAnswered(key: string): boolean {
    const seen = this.#byKey.get(key);
    return seen !== undefined && !Number.isNaN(seen.endedAt);
  }

  /** Beyond what the toolset takes, asked for just before and just now. */
  isLateAlone(key: string): boolean {
    const seen = this.#byKey.get(key);
    return seen !== undefined && isLate(seen, Math.min(seen.usualMs, this.#usualMs));
  }

  /** What was sent, each once, where the 200 was slow or came after the result. */
  late(): readonly Stimulus[] {
    const sent = [...this.#byKey.values()]
      .filter(seen => isLate(seen))
      .flatMap(({ request }) => stimulusOf(request));
    return [...new Map(sent.map(each => [JSON.stringify(each), each])).values()];
  }

  #hear(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'invocation') this.#begin(event);
    else if (event.kind === 'request' && event.purpose === 'discovery') this.#discovery = event;
    else if (event.kind === 'response') this.#answer(event.leg, event.at);
    else if (event.kind === 'request' && event.purpose === 'callback') this.#call(event);
  }

  #begin(request: RequestEvent): void {
    const begun = { request, endedAt: Number.NaN, resultAt: Number.NaN, usualMs: this.#usualMs };
    this.#byLeg.set(request.leg, begun);
    for (const key of request.calls ?? []) this.#byKey.set(key, begun);
  }

  #answer(leg: string, at: number): void {
    const seen = this.#byLeg.get(leg);
    if (seen) seen.endedAt = at;
    if (leg === this.#discovery?.leg) this.#usualMs = at - this.#discovery.at;
  }

  #call({ calls: [key = ''] = [], body, at }: RequestEvent): void {
    const seen = this.#byKey.get(key);
    if (!seen || !Number.isNaN(seen.resultAt) || !body?.json.ok) return;
    if (isRecord(body.json.value) && body.json.value['type'] === 'tool_result') seen.resultAt = at;
  }
}

/** What is not there yet is NaN, and late in no way. */
function isLate({ request, endedAt, resultAt }: Acknowledgement, usualMs = 0): boolean {
  return ownTime(endedAt - request.at, usualMs).ms > ACK_SLOW_MS || endedAt - resultAt > ACK_TOLERANCE_MS;
}

function stimulusOf({ body }: RequestEvent): Stimulus[] {
  const sent = body?.json.ok ? body.json.value : null;
  if (!isRecord(sent) || typeof sent['operation'] !== 'string' || !isRecord(sent['arguments'])) return [];
  return [{ operation: sent['operation'], arguments: sent['arguments'] }];
}

/** Calls whose acknowledgement was late, made again: TOOL-ACK goes by these. */
const AGAIN: Plan = { id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true };
/** Each so often; of those that are late alone, too, so many: more of them say nothing new. */
const MOST = { times: 3, late: 3 };
/** How long a call's work may still disturb the next one. */
const WORK_MS = 250;

/**
 * This machine may have been busy, and not the tool: what was acknowledged late among many calls is called once more alone, until it is
 * in time. What the toolset takes at the same time tells how much of it is the call's own.
 */
async function askAgain(
  desk: Desk,
  stopwatch: Stopwatch,
  mayRepeat: (operation: string) => boolean,
): Promise<void> {
  const prober = proberFor(desk, AGAIN);
  const again = stopwatch.late().filter(({ operation }) => mayRepeat(operation));
  let late = 0;
  for (const stimulus of again) {
    const outcome = await callAlone(desk, prober, stopwatch, stimulus);
    if (outcome === 'late') late++;
    if (outcome === 'gone' || late === MOST.late) return;
  }
}

/** `gone`: of a tool that does not answer any more there is nothing to be seen. */
async function callAlone(
  desk: Desk,
  prober: Prober,
  stopwatch: Stopwatch,
  stimulus: Stimulus,
): Promise<'in-time' | 'late' | 'gone'> {
  await askForToolset(desk);
  for (let time = 0; time < MOST.times && !desk.signal.aborted; time++) {
    const key = await callOnce(desk, prober, stimulus);
    await askForToolset(desk);
    if (!stopwatch.isAnswered(key)) return 'gone';
    if (!stopwatch.isLateAlone(key)) return 'in-time';
  }
  return 'late';
}

/** Nobody need consent again: what does not end by itself is closed in the end. */
async function callOnce(desk: Desk, prober: Prober, stimulus: Stimulus): Promise<string> {
  const { key, acknowledged, mailbox, converse } = prober.send(stimulus);
  await acknowledged;
  const someLetter = mailbox.until(letters => letters.length > 0);
  await cameBy(desk, WORK_MS, someLetter);
  await converse();
  return key;
}

/** Asks once more what the tool offers; however that ends, it is in the log. */
async function askForToolset(desk: Desk): Promise<void> {
  const asked = findDocument(desk.wire, desk.base).catch(() => {});
  await cameBy(desk, desk.windowMs, asked);
}

/** Enough for those that mostly wait, and few enough for a tool on a small machine to keep its time. */
const RUN_ALL_LANES = 6;

interface Running {
  /** Requirements wanted: a probe that shows none of them is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onProgress: (done: number, total: number, probe: string) => void;
  /** Stops at once; what was seen so far is in the log. */
  readonly signal: AbortSignal;
}

/** Runs the probes that are wanted, side by side, and then one by one those that disturb. What is meant to be seen is told first. */
async function runAll(probes: readonly Probe[], target: Target, options: Running): Promise<void> {
  const chosen = await chosenFrom(probes, target, options);
  for (const probe of chosen) recordPlan(target.desk.wire, probe);
  let done = 0;
  const run = async (probe: Probe) => {
    if (options.signal.aborted) return;
    await probe.run(proberFor(target.desk, probe), target);
    options.onProgress(++done, chosen.length, probe.id);
  };
  await inLanes(
    chosen.filter(({ alone }) => !alone),
    RUN_ALL_LANES,
    run,
  );
  await inLanes(
    chosen.filter(({ alone }) => alone),
    1,
    run,
  );
}

async function chosenFrom(
  probes: readonly Probe[],
  target: Target,
  { wants }: Running,
): Promise<readonly Probe[]> {
  const wanted = probes.filter(({ checks, shows = [] }) => [...checks, ...shows].some(wants));
  const offered = await Promise.all(wanted.map(async ({ isFor }) => isFor?.(target) ?? true));
  return wanted.filter((_, index) => offered[index]);
}

/** A tool server as it presents itself; without a toolset nothing of it may be called (RT-TOOLSET). */
interface Survey {
  readonly base: string;
  readonly toolset: Toolset | null;
}

const HINTS: DiscoveryHints = {
  ...DISCOVERY_HINTS,
  missing:
    'A check begins with discovery: give the base URL, below which /.well-known/rap-toolset gives the toolset (TOOL-DISCOVER). A tool without one is judged by what was saved of it: protocol-cli invoke <endpoint> <operation> --endpoint --save run.ndjson, then protocol-cli check run.ndjson.',
};

/**
 * Asks a tool server what it offers. An invalid answer is an observation too, and is in the log.
 * @throws ProtocolCliError `unreachable` or `no-discovery`.
 */
async function survey(wire: Wire, url: string): Promise<Survey> {
  const { base, body } = await findDocument(wire, url, HINTS);
  const toolset = await toolsetIn(body);
  if (toolset) recordLoaded(wire, base, toolset);
  return { base, toolset };
}

async function toolsetIn(body: Content): Promise<Toolset | null> {
  const reading = await readToolset(body.json);
  return reading.ok ? reading.toolset : null;
}

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
