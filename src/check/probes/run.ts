import pRetry from 'p-retry';
import { ACK_SLOW_MS } from '../../events/exchange.js';
import type { Case } from '../../fixtures/check-files.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { DISCOVERY_HINTS, type Wire } from '../../runtime/wire.js';
import { forEachConcurrently } from '../../util/collections.js';
import { messageOf } from '../../util/errors.js';
import type { Check } from '../report.js';
import { START_PLAN } from '../server-runs.js';
import { VALID_CALL } from './invocation-probes.js';
import type { CheckOptions } from './live-check.js';
import type { Probe, Target } from './probe.js';
import type { ProbeCall, ProbePlan } from './probe-call.js';
import { PROBE_CONCURRENCY, type ProbeClient, Prober } from './prober.js';
import { PROBES } from './probes.js';
import { SampleCalls } from './samples.js';
import type { SentCall } from './sent-call.js';

/** The server that the check started. */
export interface OwnServer {
  /** Waits briefly for the exit of a server whose connection broke. */
  settle(): Promise<void>;
  /** @throws ProtocolCliError `command-failed` */
  startAgain(): Promise<{ readonly wire: Wire; stop(): Promise<void> }>;
}

interface ProbeOptions extends Omit<CheckOptions, 'endpoint'> {
  readonly listener: ListenerOptions;
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** Whether selected operations may be marked destructive; default: true. */
  readonly mayBeDestructive?: boolean | undefined;
  /** The rules to try again: only the probes in which they failed are run; default: every probe. */
  readonly repeats?: readonly FailedRule[];
  /** The server, if the check started it. */
  readonly server?: OwnServer | undefined;
  /** Called before each case, with `cases`, then before and after each probe, with its id. */
  readonly onProgress: (done: number, total: number, name: string) => void;
}

type FailedRule = Pick<Check, 'id' | 'probes'>;

const CLOSE_CONCURRENCY = 8;

const HINTS = {
  ...DISCOVERY_HINTS,
  missing:
    'A check begins with discovery: give the base URL, below which /.well-known/rap-toolset gives the toolset (TOOL-DISCOVER). A tool without one is judged by what was saved of it: protocol-cli invoke <endpoint> <operation> --endpoint --save run.ndjson, then protocol-cli check run.ndjson.',
};

/**
 * Loads the toolset of a tool server and runs all probes against it. The log records all messages, and the rules judge the log
 * afterwards.
 * @throws ProtocolCliError `unreachable` or `no-discovery` if there is nothing to check, `unknown-operation`, `port-in-use`.
 */
export async function runProbes(options: ProbeOptions): Promise<void> {
  const { wire, wants, operations, cases, mayBeDestructive, repeats, listener, server, onProgress } = options;
  wire.log.emit({ kind: 'planned', by: 'probe', plan: START_PLAN, checks: ['TOOL-DISCOVER', 'TOOL-NAMES'] });
  const reading = await wire.loadToolset(HINTS);
  const toolset = reading.ok ? reading.toolset : null; // nothing of an invalid toolset may be called (RT-TOOLSET)
  const prober = new Prober({ ...options, endpoint: toolset?.endpoint ?? wire.base });
  const { check } = prober;
  const samples = await SampleCalls.of(prober, VALID_CALL, toolset, {
    operations,
    cases,
    mayBeDestructive,
    isRepetition: repeats !== undefined,
  });
  await prober.listen(listener);
  const target = { prober, toolset, samples };
  const alone: Probe[] = [];
  try {
    for (const { message } of wireOfAll(wire, cases).withheldFrom(check.options.endpoint))
      check.warn(message);
    if (toolset && isSampled(options)) {
      await samples.callCases((done, total) => onProgress(done, total, 'cases')); // a probe may change what a case reads
      samples.start();
    }
    await runAll(target, options, alone);
    if (samples.isStarted) await samples.finish();
    if (wants('TOOL-ACK')) await repeatLate(target);
    await check.sleep(STRAYS_MS);
    await closeThreads(prober);
    await server?.settle();
    const again = () => wire.findDocument().catch(() => {});
    if (check.tool.isBroken && !check.isAborted) await check.within(check.windowMs, again()); // shows whether the tool still answers
  } finally {
    await prober.close();
  }
  if (check.tool.exitedAt === null) {
    if (check.tool.isGone) await lookAgain(options);
    return;
  }
  if (!server) return;
  await repeatAlone(suspectsIn(target, alone), server, options).catch((error: unknown) => {
    const message = `could not find out which call ended the server: ${messageOf(error)}`;
    wire.log.emit({ kind: 'warned', message });
  });
}

/** How often and how long to look whether a tool that stopped answering is started again, in ms. */
const RESTART = { retries: 20, factor: 1, minTimeout: 150, maxRetryTime: 2_500 } as const;

/** Reads the toolset of a tool that stopped answering again: a supervisor may have started it, or another program may use its port. */
async function lookAgain({ wire, signal }: ProbeOptions): Promise<void> {
  const find = () => wire.findDocument(HINTS, RESTART.maxRetryTime);
  await pRetry(find, { ...RESTART, signal }).catch(() => {}); // the log has the answers
}

/** A wire with the headers of all calls. */
function wireOfAll(wire: Wire, cases: readonly Case[]): Wire {
  return wire.withHeaders(Object.assign({}, wire.headers, ...cases.map(({ caller }) => caller?.headers)));
}

/** Cases are called whatever rules are selected; in a repetition, if a rule failed in one of them. */
function isSampled({ cases, repeats }: ProbeOptions): boolean {
  const isProbe = (id: string) => PROBES.some(probe => probe.id === id);
  if (repeats) return repeats.some(({ probes = [] }) => !probes.every(isProbe));
  return cases.length > 0;
}

function tests({ checks, shows = [] }: Probe, isWanted: (id: RequirementId) => boolean): boolean {
  return [...checks, ...shows].some(isWanted);
}

/** The probes in which the rule failed: those that test it, if it failed in one of them; those that test it, if it failed in no call. */
function probesOf({ id, probes: failed }: FailedRule): readonly Probe[] {
  const testing = PROBES.filter(probe => tests(probe, own => own === id));
  if (!failed) return testing;
  const both = testing.filter(probe => failed.includes(probe.id));
  return both.length > 0 ? both : PROBES.filter(probe => failed.includes(probe.id));
}

/**
 * Records the plans of the selected probes and runs them in parallel, then the disturbing ones one by one.
 * @param alone receives the disturbing ones as they begin
 */
async function runAll(
  target: Target,
  { wants, repeats, onProgress }: ProbeOptions,
  alone: Probe[],
): Promise<void> {
  const { prober } = target;
  const again = repeats && new Set(repeats.flatMap(probesOf));
  const probes: Probe[] = [];
  for (const probe of PROBES)
    if (again?.has(probe) ?? tests(probe, wants))
      if ((await probe.isFor?.(target)) ?? true) probes.push(probe);
  for (const probe of probes) prober.check.recordPlan(probe);
  let done = 0;
  const run = (isAlone: boolean) =>
    forEachConcurrently(
      probes.filter(({ alone = false }) => alone === isAlone),
      isAlone ? 1 : PROBE_CONCURRENCY,
      async probe => {
        if (prober.check.isAborted) return;
        if (isAlone) alone.push(probe);
        onProgress(done, probes.length, probe.id);
        await probe.run(prober.client(probe), target);
        onProgress(++done, probes.length, probe.id);
      },
    );
  await run(false);
  await run(true);
}

/** How long messages that should not come may come at the end, in ms. */
const STRAYS_MS = 250;

const MAX_REPEATS = 3;

/** After this many calls that stay late, more repeats add nothing. */
const MAX_LATE = 3;

/** Late acknowledgements may have been late because of load, so each call is repeated alone; TOOL-ACK uses the best time. */
async function repeatLate(target: Target): Promise<void> {
  const { prober } = target;
  const client = prober.client({ id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true });
  const late = new Map<string, ProbeCall>();
  for (const call of [...prober.calls])
    if (call.wellFormed && (await call.isLate())) late.set(JSON.stringify(call.wellFormed), call.wellFormed);
  let stayLate = 0;
  for (const call of late.values())
    if (mayRepeat(call.operation, target) && (await staysLate(prober, client, call)))
      if (++stayLate === MAX_LATE || prober.check.tool.isBroken) return;
}

/** An operation that is not in the toolset cannot be executed. */
function mayRepeat(operation: string, { toolset, samples }: Pick<Target, 'toolset' | 'samples'>): boolean {
  if (samples.harmless.some(({ tool }) => tool.name === operation)) return true;
  return !toolset?.tools.some(({ name }) => name === operation);
}

async function staysLate(prober: Prober, client: ProbeClient, call: ProbeCall): Promise<boolean> {
  for (let time = 0; time < MAX_REPEATS && !prober.check.isAborted; time++) {
    const repeat = client.send(call);
    if ((await repeat.acknowledged) === null) break;
    await repeat.until(() => repeat.callbacks.length > 0, ACK_SLOW_MS); // the work of a call may disturb the next one
    await repeat.conversationEnded();
    if (!(await repeat.isLate())) return false;
  }
  return true;
}

/** Stops at the first notice without an answer; a tool that is gone already gets none. */
async function closeThreads(prober: Prober): Promise<void> {
  const threads = new Map(prober.calls.map(({ thread, wire }) => [thread, wire]));
  let isThere = !prober.check.tool.isBroken;
  await forEachConcurrently([...threads], CLOSE_CONCURRENCY, async ([thread, wire]) => {
    if (isThere && !prober.check.isAborted) isThere = (await prober.closeThread(thread, wire)) !== null;
  });
}

/** Repeats a call or a probe that may have ended a server. */
type Suspect = (prober: Prober) => Promise<void>;

interface AloneOptions extends Omit<CheckOptions, 'wire' | 'endpoint'> {
  readonly listener: ListenerOptions;
}

/** Each suspect costs the start of a server. */
const MAX_SUSPECTS = 16;

/** How long a server may take to exit, in ms, beyond the time that it took before. */
const EXIT_MS = 1_000;

/** Finds out what ended a server: repeats each suspect on a new server, with nothing else in progress, until one exits too. */
async function repeatAlone(
  suspects: readonly Suspect[],
  server: OwnServer,
  options: AloneOptions,
): Promise<void> {
  for (const suspect of suspects.slice(0, MAX_SUSPECTS)) {
    if (options.signal.aborted) return;
    const { wire, stop } = await server.startAgain();
    try {
      if (await exits(suspect, wire, server, options)) return;
    } finally {
      await stop();
    }
  }
}

async function exits(
  suspect: Suspect,
  wire: Wire,
  server: OwnServer,
  options: AloneOptions,
): Promise<boolean> {
  wire.log.emit({ kind: 'planned', by: 'probe', plan: START_PLAN, checks: [] });
  const reading = await wire.loadToolset();
  const prober = new Prober({
    ...options,
    wire,
    endpoint: reading.ok ? reading.toolset.endpoint : wire.base,
  });
  try {
    await prober.listen(options.listener);
    await suspect(prober);
    await server.settle();
    return prober.check.tool.exitedAt !== null;
  } finally {
    await prober.close();
  }
}

/** Maximum number of calls of disturbing probes that are repeated before the probes themselves. */
const MAX_DISTURBING = 8;

/** What may have ended the server, the most likely first. @param alone the disturbing probes that were begun */
function suspectsIn(target: Target, alone: readonly Probe[]): readonly Suspect[] {
  const isDisturbing = ({ plan }: SentCall) => alone.some(({ id }) => id === plan.id);
  const of = (calls: readonly SentCall[]) => suspectsOf(calls, operation => mayRepeat(operation, target));
  const { calls } = target.prober;
  return [
    ...of(calls.filter(isDisturbing).slice(-MAX_DISTURBING)),
    ...alone.toReversed().map(probe => probeAlone(probe, target)),
    ...of(calls.filter(call => !isDisturbing(call))),
  ];
}

function probeAlone({ id, run }: Probe, target: Target): Suspect {
  const plan: ProbePlan = { id, checks: [], newServer: true };
  return async prober => {
    prober.check.recordPlan(plan);
    await run(prober.client(plan), { ...target, prober });
    await prober.check.sleep(EXIT_MS);
  };
}

/**
 * The calls that may have ended their server: one of each operation first, and of those the ones that were open. But a tool may
 * also crash after it has sent a result, so the latest of those that had ended come next.
 * @param mayRepeat whether an operation may be called again
 */
function suspectsOf(
  calls: readonly SentCall[],
  mayRepeat: (operation: string) => boolean,
): readonly Suspect[] {
  const delivered = calls.filter(call => call.isDelivered && mayRepeat(call.call.operation));
  const isOpen = (call: SentCall) => !call.hasReceived('tool_result');
  const ended = delivered.filter(call => !isOpen(call));
  const ordered = [...delivered.filter(isOpen), ...ended.reverse()];
  const ofEachOperation = firstOfEach(ordered, ({ call }) => call.operation);
  return firstOfEach([...ofEachOperation, ...ordered], contentOf).map(call => prober => repeat(call, prober));
}

function firstOfEach(calls: readonly SentCall[], nameOf: (call: SentCall) => unknown): readonly SentCall[] {
  const names = new Set<unknown>();
  return calls.filter(call => !names.has(nameOf(call)) && names.add(nameOf(call)));
}

/** Equal for calls that send the same, apart from their ids. */
function contentOf({ call }: SentCall): unknown {
  const { body, addressed, ...content } = call;
  return body || addressed ? call : JSON.stringify(content);
}

async function repeat({ plan, key, call, msUntilExit }: SentCall, prober: Prober): Promise<void> {
  const again = prober.send({ id: plan.id, checks: [], newServer: true }, `${key} alone`, call);
  const { check } = prober;
  const hasResult = await again.waitFor(['tool_result']);
  await check.sleep(Math.min(msUntilExit, check.windowMs) + EXIT_MS);
  if (!hasResult && !check.isAborted) check.recordCancel(again.key); // it was not awaited as long as other calls are
}
