import { ACK_SLOW_MS } from '../../events/exchange.js';
import type { Case } from '../../fixtures/check-files.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { DISCOVERY_HINTS, findDocument, recordLoaded } from '../../runtime/discover.js';
import type { Wire } from '../../runtime/notices.js';
import { concurrently, type Plan, ProbeClient, ProbeContext } from './client.js';
import { ProbeListener, sharedSignal, type WaitOptions } from './listener.js';
import { PROBES, type Probe, type Target, VALID_CALL } from './probes.js';
import { callablesOf, SampleCalls } from './samples.js';

export interface ProbeOptions extends WaitOptions {
  /** All events go to its log. */
  readonly wire: Wire;
  readonly listener: ListenerOptions;
  /** Base of the tool server. */
  readonly url: string;
  /** Called whatever their annotations say. */
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** How long each observation is waited for. */
  readonly probeTimeoutMs: number;
  /** Requirements wanted: a probe that shows none of them is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onProgress: (done: number, total: number, probe: string) => void;
  /** Receives a consent URL for the user. */
  readonly onConsent: (url: string) => void;
}

/** A callback hangs for this part of the window: the rest of it is for the next attempt. */
const HANG_PART = 0.5;
/** Most probes only wait; a tool on a small machine must keep its time. */
const PROBE_CONCURRENCY = 6;
const CLOSE_CONCURRENCY = 8;

const HINTS = {
  ...DISCOVERY_HINTS,
  missing:
    'A check begins with discovery: give the base URL, below which /.well-known/rap-toolset gives the toolset (TOOL-DISCOVER). A tool without one is judged by what was saved of it: protocol-cli invoke <endpoint> <operation> --endpoint --save run.ndjson, then protocol-cli check run.ndjson.',
};

/**
 * Asks a tool server for its toolset and tries it with everything that a runtime may do. The log records what was sent and what came,
 * and the rules judge that.
 * @throws ProtocolCliError `unreachable` or `no-discovery` if there is nothing to check, `unknown-operation`, `port-in-use`.
 */
export async function runProbes(options: ProbeOptions): Promise<void> {
  const { wire, clock, probeTimeoutMs, wants, onConsent, cases } = options;
  const signal = sharedSignal(options.signal);
  const listener = new ProbeListener(wire.log, { clock, signal }, probeTimeoutMs * HANG_PART);
  const common = { wire, clock, signal, listener, probeTimeoutMs, wants, onConsent };
  wire.log.emit({ kind: 'planned', by: 'probe', plan: 'discovery', checks: ['TOOL-DISCOVER', 'TOOL-NAMES'] });
  const { base, body } = await findDocument(wire, options.url, HINTS);
  const reading = await readToolset(body.json);
  const toolset = reading.ok ? reading.toolset : null; // nothing of an invalid toolset may be called (RT-TOOLSET)
  if (toolset) recordLoaded(wire, base, toolset);
  const { callables, warnings } = toolset
    ? await callablesOf(toolset, options)
    : { callables: [], warnings: [] };
  const context = new ProbeContext({ ...common, base, endpoint: toolset?.endpoint ?? base });
  for (const message of warnings) context.warn(message);
  await listener.start(options.listener);
  try {
    const samples = new SampleCalls(context, VALID_CALL, callables, toolset ? cases : []);
    if (toolset && cases.length > 0) void samples.finished; // cases are called whatever the rules
    await runAll({ context, toolset, samples }, options);
    if (samples.isStarted) await samples.finished;
    if (wants('TOOL-ACK')) await repeatLate({ context, toolset, samples });
    await closeThreads(context);
    // Shows whether the tool is still there.
    if (context.isBroken)
      await context.within(
        context.windowMs,
        findDocument(wire, base).catch(() => {}),
      );
  } finally {
    await listener.close();
  }
}

/** Records the plans of the wanted probes, runs them in parallel, then the disturbing ones one by one. */
async function runAll(
  target: Target,
  { wants, onProgress }: Pick<ProbeOptions, 'wants' | 'onProgress'>,
): Promise<void> {
  const { context } = target;
  const probes: Probe[] = [];
  for (const probe of PROBES)
    if ([...probe.checks, ...(probe.shows ?? [])].some(wants) && ((await probe.isFor?.(target)) ?? true))
      probes.push(probe);
  for (const probe of probes) context.recordPlan(probe);
  let done = 0;
  const run = async (probe: Probe) => {
    if (context.isAborted) return;
    await probe.run(new ProbeClient(context, probe), target);
    onProgress(++done, probes.length, probe.id);
  };
  const alone = probes.filter(probe => probe.alone);
  await concurrently(
    probes.filter(probe => !probe.alone),
    PROBE_CONCURRENCY,
    run,
  );
  await concurrently(alone, 1, run);
}

const REPEAT: Plan = { id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true };
const MAX_REPEATS = 3;
/** After this many calls that stay late, more repeats add nothing. */
const MAX_LATE = 3;

/** Late acknowledgements may have been late because of load, so each call is repeated alone; TOOL-ACK uses the best time. */
async function repeatLate({ context, toolset, samples }: Target): Promise<void> {
  const client = new ProbeClient(context, REPEAT);
  const late = new Map<string, NonNullable<(typeof context.calls)[0]['sent']>>();
  for (const { sent, isLate } of [...context.calls])
    if (sent && (await isLate())) late.set(JSON.stringify([sent.operation, sent.arguments]), sent);
  const mayRepeat = (operation: string) =>
    !toolset?.tools.some(({ name }) => name === operation) ||
    samples.callables.some(({ tool, isHarmless }) => isHarmless && tool.name === operation);
  let stayLate = 0;
  for (const call of [...late.values()].filter(({ operation }) => mayRepeat(operation))) {
    let isLate = true;
    for (let time = 0; isLate && time < MAX_REPEATS && !context.isAborted; time++) {
      const repeat = client.send(call);
      if ((await repeat.acknowledged) === null) return;
      // The work of a call may disturb the next one.
      await context.within(
        ACK_SLOW_MS,
        repeat.inbox.until(({ callbacks }) => callbacks.length > 0),
      );
      await repeat.converse();
      isLate = await repeat.isLate();
    }
    if (isLate && ++stayLate === MAX_LATE) return;
  }
}

/** Stops at the first notice without an answer. */
async function closeThreads(context: ProbeContext): Promise<void> {
  let isThere = true;
  await concurrently([...context.threads], CLOSE_CONCURRENCY, async thread => {
    if (!isThere || context.isAborted) return;
    const { kind } = await context.closeThread(thread);
    isThere = kind === 'answered';
  });
}
