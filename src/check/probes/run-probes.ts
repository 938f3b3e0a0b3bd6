import type { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import type { Log } from '../../events/log.js';
import { typeOfMessage } from '../../events/tool-call.js';
import type { Case } from '../../fixtures/cases.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Toolset } from '../../protocol/toolset.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { DISCOVERY_HINTS, type DiscoveryHints, findDocument, recordLoaded } from '../../runtime/discover.js';
import { closeThread, type Wire } from '../../runtime/notices.js';
import type { Clock } from '../../system/drafts.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { anySignal, arrivedWithin, type ProbeListener, startProbeListener } from './callback-listener.js';
import {
  clientFor,
  concurrently,
  noticeOptions,
  type Plan,
  type ProbeCall,
  type ProbeClient,
  type ProbeContext,
  recordPlan,
} from './probe-call.js';
import { PROBES, type Probe, type Target, validCall } from './probes.js';
import {
  type Callable,
  type Callables,
  callablesOf,
  type SampleCalls,
  startSampleCalls,
  type Tried,
} from './sample-calls.js';

/** Measures how the calls of a run are acknowledged, by their key. Times that are not known yet are NaN, and never late. */
class AckTimes {
  readonly #times = new Map<string, { readonly request: RequestEvent; ackAt: number; resultAt: number }>();

  constructor(log: Log) {
    log.subscribe(event => this.#read(event));
  }

  isAnswered(key: string): boolean {
    return !Number.isNaN(this.#times.get(key)?.ackAt ?? Number.NaN);
  }

  /** Whether the 200 was slow, or came after the result. */
  isLate(key: string): boolean {
    const times = this.#times.get(key);
    if (!times) return false;
    const { request, ackAt, resultAt } = times;
    return ackAt - request.at > ACK_SLOW_MS || ackAt - resultAt > ACK_TOLERANCE_MS;
  }

  /** What the late calls sent, each once. */
  late(): readonly ProbeCall[] {
    const sent = [...this.#times].flatMap(([key, { request }]) =>
      this.isLate(key) ? probeCallOf(request) : [],
    );
    return [...new Map(sent.map(each => [JSON.stringify(each), each])).values()];
  }

  #read(event: Event): void {
    const [key = ''] = event.calls ?? [];
    if (event.kind === 'request' && event.purpose === 'invocation')
      this.#times.set(key, { request: event, ackAt: Number.NaN, resultAt: Number.NaN });
    const times = this.#times.get(key);
    if (!times) return;
    if (event.kind === 'response' && event.leg === times.request.leg) times.ackAt = event.at;
    const isFirst = event.kind === 'request' && Number.isNaN(times.resultAt);
    if (isFirst && typeOfMessage(event.body ?? null) === 'tool_result') times.resultAt = event.at;
  }
}

function probeCallOf({ body }: RequestEvent): ProbeCall[] {
  const sent = body?.json.ok ? body.json.value : null;
  if (!isRecord(sent) || typeof sent['operation'] !== 'string' || !isRecord(sent['arguments'])) return [];
  return [{ operation: sent['operation'], arguments: sent['arguments'] }];
}

/** Repeats calls whose acknowledgement was late; TOOL-ACK uses the best time of each. */
const AGAIN: Plan = { id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true };
const MOST_REPEATS = 3;
/** After this many calls that stay late, more repeats add nothing. */
const MOST_LATE = 3;
/** How long a call's work may disturb the next call. */
const WORK_MS = 250;

/** The late calls may have been late because of load, so each is repeated alone, until it is in time. */
async function repeatLate(
  context: ProbeContext,
  ackTimes: AckTimes,
  mayRepeat: (operation: string) => boolean,
): Promise<void> {
  const client = clientFor(context, AGAIN);
  let late = 0;
  for (const probeCall of ackTimes.late().filter(({ operation }) => mayRepeat(operation))) {
    let isLate = true;
    for (let time = 0; isLate && time < MOST_REPEATS && !context.signal.aborted; time++) {
      const key = await callOnce(context, client, probeCall);
      if (!ackTimes.isAnswered(key)) return;
      isLate = ackTimes.isLate(key);
    }
    if (isLate && ++late === MOST_LATE) return;
  }
}

/** Does not wait for consent again: the thread is closed at the end. */
async function callOnce(context: ProbeContext, client: ProbeClient, probeCall: ProbeCall): Promise<string> {
  const { key, acknowledged, inbox, converse } = client.send(probeCall);
  await acknowledged;
  await arrivedWithin(
    context,
    WORK_MS,
    inbox.until(callbacks => callbacks.length > 0),
  );
  await converse();
  return key;
}

/** Requests the toolset again; the log has the outcome. */
async function askForToolset(context: ProbeContext): Promise<void> {
  await arrivedWithin(
    context,
    context.windowMs,
    findDocument(context.wire, context.base).catch(() => {}),
  );
}

/** Enough for those that mostly wait, and few enough for a tool on a small machine to keep its time. */
const PROBE_CONCURRENCY = 6;

interface Running {
  /** Requirements wanted: a probe that shows none of them is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onProgress: (done: number, total: number, probe: string) => void;
  /** Stops at once; what was seen so far is in the log. */
  readonly signal: AbortSignal;
}

/** Records the plans of the selected probes, runs them in parallel, then runs the disturbing ones one by one. */
async function runAll(probes: readonly Probe[], target: Target, options: Running): Promise<void> {
  const chosen = await chosenFrom(probes, target, options);
  for (const probe of chosen) recordPlan(target.context.wire, probe);
  let done = 0;
  const run = async (probe: Probe) => {
    if (options.signal.aborted) return;
    await probe.run(clientFor(target.context, probe), target);
    options.onProgress(++done, chosen.length, probe.id);
  };
  await concurrently(
    chosen.filter(({ alone }) => !alone),
    PROBE_CONCURRENCY,
    run,
  );
  await concurrently(
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
const CONCURRENCY = 8;

/**
 * Asks a tool server what it offers, tries it with everything a runtime may do, and listens. What was sent and what came of it is in the
 * log, and nowhere else: the rules judge that.
 * @throws ProtocolCliError `unreachable` or `no-discovery` where there is nothing to check, `unknown-operation` for a name that is none,
 * `port-in-use`.
 */
export async function runProbes(given: ProbeOptions): Promise<void> {
  const options = { ...given, signal: anySignal(given.signal) };
  const { wire, clock, signal, probeTimeoutMs } = options;
  const ackTimes = new AckTimes(wire.log);
  const isBroken = watchBreaks(wire.log);
  recordPlan(wire, DISCOVERY);
  const found = await survey(wire, options.url);
  const { callables, warnings } = found.toolset ? await callablesOf(found.toolset, options) : NOTHING;
  for (const message of warnings) wire.log.emit({ kind: 'warned', message });
  const settings = { clock, signal, hangMs: probeTimeoutMs * HANGS_FOR };
  const listener = await startProbeListener(wire.log, options.listener, settings);
  try {
    const context = contextFor(options, found, listener);
    const trying = tryingOf(context, { callables, cases: found.toolset ? options.cases : [] });
    const { toolset } = found;
    await runAll(PROBES, { context, toolset, callables, tryAll: trying.begin }, options);
    await trying.finish();
    if (options.wants('TOOL-ACK')) await repeatLate(context, ackTimes, mayRepeat(found, callables));
    await leave(context);
    if (isBroken()) await askForToolset(context); // whether the tool is still there
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

function contextFor(options: ProbeOptions, { base, toolset }: Survey, listener: ProbeListener): ProbeContext {
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

/** The sample calls are made once, on first use; written cases are always called. */
function tryingOf(context: ProbeContext, tried: Tried) {
  let sampleCalls: SampleCalls | undefined;
  const begin = () => {
    sampleCalls ??= startSampleCalls(context, validCall, tried);
    return sampleCalls;
  };
  if (tried.cases.length > 0) begin();
  return { begin, finish: async () => sampleCalls?.finished };
}

/** Closes the threads of the run; stops at the first notice without an answer. */
async function leave(context: ProbeContext): Promise<void> {
  const { wire, base, threads, signal } = context;
  let isThere = true;
  await concurrently([...threads], CONCURRENCY, async thread => {
    if (!isThere || signal.aborted) return;
    const { kind } = await closeThread(wire, base, thread, noticeOptions(context));
    isThere = kind === 'answered';
  });
}
