import type { Exchange } from '../../events/exchange.js';
import type { Log } from '../../events/log.js';
import { type HttpClient, lazyClient } from '../../http/client.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import { failureOf } from '../../render/failure.js';
import type { Ending, Trouble } from '../../render/outputs/reporter.js';
import { subscriptionEnd } from '../../runtime/runtime.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { ProtocolCliError } from '../../util/errors.js';
import { StartedServers } from '../started-server.js';
import { type ExitStatus, interruption, statusOfFailure, type Terminal } from '../terminal.js';
import {
  address,
  asideOf,
  cancelWhenInterrupted,
  converse,
  type Finish,
  notesOf,
  type Opened,
  open,
  type Setting,
  statusOfCall,
  takeLeave,
} from './discover.js';
import { observe } from './output.js';
import type { InvokeOptions, InvokePlan } from './plan.js';
import { answeringWith, isLeftOpen, unfitting } from './questions.js';

/** What is looked at while more may come, and until when. */
interface Watching {
  readonly log: Log;
  readonly clock: Clock;
  /** Aborted when a person wants to stop. */
  readonly signal: AbortSignal;
}

/** `--linger`: shows callbacks after the result. The end of the wait is an event, unless the user stopped it. */
export async function linger({ log, clock, signal }: Watching, afterMs: number): Promise<void> {
  await waiting(clock, afterMs, signal);
  if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs });
}

/** Resolves after a time, or at once where a person wants to stop. */
export function waiting(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const leave = () => {
      cancel();
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    const cancel = clock.after(ms, leave);
    signal?.addEventListener('abort', leave);
  });
}

/** Resolves when stdout is closed, as after `head -1`, or cannot be written. */
function readerGone(stdout: NodeJS.WritableStream): Promise<void> {
  return new Promise(resolve => {
    stdout.once('error', () => resolve());
  });
}

/** After a cancel: shows callbacks that are already on their way. */
const FAREWELL_MS = 300;
/** Whoever has pressed Ctrl-C does not wait for a `--linger` of minutes. */
const LONGEST_FAREWELL_MS = 2_000;

/** Calls, tells the result as soon as it is here, stays as long as was asked for, and takes leave of the tool. */
async function callOnce(setting: Setting, opened: Opened): Promise<Finish> {
  const invocation = address(setting, opened, setting.plan.identity);
  const { denial, runtime } = opened;
  if (denial) await tell(setting, opened, runtime.deny(invocation, denial));
  else await call(setting, opened, invocation);
  const exchange = setting.observation.history.exchanges.get(invocation.id);
  if (!exchange) throw new Error('a call that was made or denied has an exchange');
  await takeLeave(exchange, farewell(setting, opened));
  const trouble = troubleOf(setting, exchange);
  return { exchange, trouble, status: statusOfCall(exchange, trouble) };
}

async function call(setting: Setting, opened: Opened, invocation: Invocation): Promise<void> {
  const { plan, observation } = setting;
  const chooser = { choose: plan.options.choose, pick: observation.reporter.choose, ...asideOf(setting) };
  const stopCancelling = cancelWhenInterrupted(setting, invocation.id);
  const exchange = await converse(setting, opened, invocation, {
    answering: answeringWith(chooser),
    leave: pending => isLeftOpen(pending, chooser),
  });
  await tell(setting, opened, exchange);
  await stay(setting, exchange);
  stopCancelling();
}

async function tell(setting: Setting, { prepared }: Opened, exchange: Exchange): Promise<void> {
  const { history, reporter } = setting.observation;
  const notes = notesOf(setting.plan, prepared);
  await reporter.settled?.({ history, exchange, notes, trouble: troubleOf(setting, exchange) });
}

async function stay(
  { plan, observation, clock, interrupted, terminal }: Setting,
  { key, settled }: Exchange,
): Promise<void> {
  const { follow: isFollowing, linger: lingerMs = 0 } = plan.options;
  const { log, history } = observation;
  if (isFollowing) await Promise.race([subscriptionEnd(log, history, key), readerGone(terminal.stdout)]);
  if (lingerMs > 0 && (settled?.by === 'result' || settled?.by === 'timeout'))
    await linger({ log, clock, signal: interrupted.signal }, lingerMs);
}

function farewell({ plan, clock }: Setting, { prepared: { wire, base } }: Opened) {
  const ms = Math.min(plan.options.linger ?? FAREWELL_MS, LONGEST_FAREWELL_MS);
  return {
    wire,
    base,
    isOurThread: plan.identity.isOurThread,
    closes: plan.options.close !== false,
    listenOn: () => waiting(clock, ms),
  };
}

function troubleOf({ observation, plan, servers }: Setting, exchange: Exchange): Trouble | null {
  const failure = servers.explain(failureOf(exchange, observation.history.errands));
  const { choose } = plan.options;
  if (failure?.code !== 'decision-needed' || choose === undefined) return failure;
  return {
    ...failure,
    message: `--choose ${unfitting(exchange, choose)} is not one of the choices that the tool offers`,
  };
}

/** One call is soon over: what is made for throughput takes longer to load. */
function clientFor({ repeat }: Pick<InvokeOptions, 'repeat'>): HttpClient {
  if (repeat === undefined) return createNodeClient();
  return lazyClient(async () => (await import('../../http/pooled-client.js')).createAgentClient());
}

/** Makes the calls of a plan. @param note takes what is to be warned of, as soon as it is known */
export type Calling = (setting: Setting, note: (notes: readonly Warning[]) => void) => Promise<Finish>;

const overRap: Calling = async (setting, note) => {
  const call = setting.plan.options.repeat === undefined ? callOnce : await loadRepeatedly();
  return call(setting, await open(setting, ({ notes }) => note(notes)));
};

/** `invoke`, from the plan to the exit status. */
export async function runInvoke(
  plan: InvokePlan,
  terminal: Terminal,
  { clock = systemClock, calling = overRap }: { readonly clock?: Clock; readonly calling?: Calling } = {},
): Promise<ExitStatus> {
  const observation = await observe(plan.options, terminal, clock);
  const interrupted = interruption();
  const stops: (() => Promise<void>)[] = [];
  const onStop = (stop: () => Promise<void>) => void stops.push(stop);
  const client = clientFor(plan.options);
  const { log, history, redactor, verbosely } = observation;
  const onStderr = verbosely && ((lines: string) => verbosely(redactor.text(lines)));
  const servers = new StartedServers(log, () => history.exchanges.values(), onStderr);
  const setting: Setting = { plan, terminal, clock, observation, interrupted, client, onStop, servers };
  let known: readonly Warning[] = [];
  const note = (notes: readonly Warning[]) => {
    known = notes;
  };
  const finish = await calling(setting, note)
    .catch(failed)
    .finally(() => stop(setting, stops));
  const notes = notesOf(plan, { notes: [...known, ...servers.warnings] });
  return conclude(setting, finish, { history: observation.history, notes });
}

async function loadRepeatedly() {
  return (await import('./discover.js')).callRepeatedly;
}

/** Whatever happened: nothing of ours goes on, and the terminal is in order. */
async function stop(
  { interrupted, terminal, observation, servers }: Setting,
  stops: (() => Promise<void>)[],
) {
  if (!interrupted.signal.aborted) await servers.settle();
  await Promise.allSettled(stops.reverse().map(each => each()));
  interrupted.release();
  if (interrupted.signal.aborted) terminal.stdin.destroy(); // arguments may still be awaited from there
  await observation.reporter.close?.();
}

async function conclude(
  { observation: { reporter, finish: keep }, interrupted }: Setting,
  { exchange, trouble: failure, status }: Finish,
  known: Pick<Ending, 'history' | 'notes'>,
): Promise<ExitStatus> {
  const kept = await keep(failure?.code ?? 'done').then(() => null, asTrouble);
  const lost = failure && kept ? [{ message: kept.message }] : [];
  const latest = exchange && known.history.exchanges.get(exchange.key); // more came while leave was taken
  const notes = [...known.notes, ...lost];
  await reporter.end({ ...known, exchange: latest, notes, trouble: failure ?? kept });
  return interrupted.signalStatus() ?? (kept && !failure ? statusOfFailure(kept.code) : status);
}

function failed(error: unknown): Finish {
  const trouble = asTrouble(error);
  return { exchange: undefined, trouble, status: statusOfFailure(trouble.code) };
}

function asTrouble(error: unknown): Trouble {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}
