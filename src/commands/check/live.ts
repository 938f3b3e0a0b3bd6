import { setMaxListeners } from 'node:events';
import { ProtocolCliError } from '../../errors.js';
import type { Event } from '../../exchange/events.js';
import { createLog, type Log } from '../../exchange/log.js';
import type { ProbeOptions } from '../../probes/run-probes.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Clock } from '../../system/clock.js';
import { cameWithin } from '../../system/within.js';
import { createRedactor } from '../../text/redact.js';
import { visibleLine } from '../../text/visible.js';
import { lazyClient } from '../../transport/lazy-client.js';
import type { ExitStatus } from '../exit-status.js';
import { readCredentials, readHeaders, secretsOf } from '../headers.js';
import { type Interruption, interruption, type OnStop } from '../interruption.js';
import { PROGRAM } from '../program.js';
import { reach } from '../reach.js';
import { saveTranscript } from '../save-transcript.js';
import type { ServerTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import { hasQuery, nameOf, QUERY_UNSENT, secretsOfQuery } from './named-target.js';
import type { CheckPlan } from './plan.js';
import { progressOn } from './progress.js';
import { checkedSecrets } from './secrets.js';
import type { Witness } from './witness.js';

/** What a check was made with; a test gives other probes. */
export interface Making {
  readonly clock: Clock;
  readonly probes: (options: ProbeOptions) => Promise<void>;
}

/** What was seen of a tool, to the end or until somebody stopped it. */
export interface LiveWitness extends Witness {
  /** Of the signal that came before the end; undefined where none did. */
  readonly interrupted: ExitStatus | undefined;
}

const MAX_CALLBACK = 64 * 1024 * 1024;
/** What is called off has this long to say how it ended. */
const LAST_WORDS_MS = 500;

/**
 * Calls a tool with all that the probes know, and keeps what happened. What was started is stopped, however it ends.
 * @throws ProtocolCliError `unreachable`, `no-discovery` where there is nothing to check, and whatever `--save` meets.
 */
export async function watchTool(
  target: ServerTarget,
  plan: CheckPlan,
  terminal: Terminal,
  making: Making,
): Promise<LiveWitness> {
  const interrupted = interruption();
  setMaxListeners(0, interrupted.signal); // every probe listens to it
  const stops: (() => Promise<void>)[] = [];
  const stopAll = () =>
    Promise.allSettled(
      stops
        .splice(0)
        .reverse()
        .map(stop => stop()),
    );
  const onStop: OnStop = stop => stops.push(stop);
  try {
    return await watch(target, { plan, terminal, making, interrupted, onStop, stopAll });
  } finally {
    await stopAll();
    interrupted.release();
  }
}

interface Desk {
  readonly plan: CheckPlan;
  readonly terminal: Terminal;
  readonly making: Making;
  readonly interrupted: Interruption;
  readonly onStop: OnStop;
  readonly stopAll: () => Promise<unknown>;
}

async function watch(target: ServerTarget, desk: Desk): Promise<LiveWitness> {
  const { plan, terminal, making, interrupted } = desk;
  const headers = readHeaders(plan.flags, terminal.env);
  const redactor = checkedSecrets(createRedactor([...secretsOf(headers), ...secretsOfQuery(target)]));
  const log = createLog(() => making.clock.now());
  const events: Event[] = [];
  log.subscribe(event => {
    redactor.learn(event);
    events.push(event);
  });
  if (hasQuery(target)) log.emit({ kind: 'warned', message: QUERY_UNSENT });
  const finish = await savingTo(log, redactor, desk);
  const probing = probe(target, log, desk);
  const trouble = await interrupted.race(probing).then(() => null, asTrouble);
  await desk.stopAll();
  await cameWithin(Promise.allSettled([probing]), LAST_WORDS_MS); // so that nothing happens after the end
  const status = interrupted.signalStatus();
  await finish(status === undefined ? (trouble?.code ?? 'done') : 'interrupted');
  if (trouble && status === undefined) throw trouble;
  const recordings = [{ observer: 'runtime', events, isWhole: status === undefined } as const];
  return { target: await nameOf(target), recordings, gaps: [], redactor, interrupted: status };
}

/** @throws what the probes throw, or whoever starts the tool. */
async function probe(target: ServerTarget, log: Log, desk: Desk): Promise<void> {
  const { plan, terminal, making, interrupted, onStop } = desk;
  const url = await reach(target, onStop, interrupted.signal, how =>
    log.emit({ kind: 'warned', message: how }),
  );
  const client = lazyClient(async () =>
    (await import('../../transport/agent-client.js')).createAgentClient(),
  );
  onStop(() => client.close());
  const progress = progressOn(terminal, plan.flags.quiet === true);
  onStop(async () => progress.end());
  await making.probes({
    ...choicesOf(plan),
    wire: { client, log, credentials: readCredentials(plan.flags, url, terminal.env) },
    clock: making.clock,
    url,
    onConsent: consent => progress.aside(`visit this URL to go on: ${visibleLine(consent)}\n`),
    onProgress: (done, total) => progress.update(done, total),
    signal: interrupted.signal,
  });
  progress.end();
}

/** What the command line says of the probes. */
function choicesOf({ flags, cases, selection: { only, skip } }: CheckPlan) {
  const {
    callbackHost: host,
    callbackPort,
    callbackUrl,
    allowHost = [],
    operation = [],
    probeTimeout,
  } = flags;
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return {
    listener: { host, port: callbackPort, allowedHosts: allowHost, maxBody: MAX_CALLBACK, ...publicUrl },
    operations: operation,
    cases,
    wants: (id: RequirementId) => (only?.has(id) ?? true) && !skip?.has(id),
    probeTimeoutMs: probeTimeout,
  };
}

function savingTo(log: Log, redactor: Witness['redactor'], { plan, making, terminal }: Desk) {
  const { save } = plan.flags;
  if (save === undefined) return async () => {};
  const about = {
    startedAt: making.clock.wall().toISOString(),
    observer: 'runtime',
    program: PROGRAM,
  } as const;
  return saveTranscript(log, save, redactor, about, terminal);
}

function asTrouble(error: unknown): ProtocolCliError {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}
