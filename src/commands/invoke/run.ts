import { ProtocolCliError } from '../../errors.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Ending, Trouble } from '../../reporters/reporter.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import { interruption } from '../interruption.js';
import { StartedServers } from '../started-server.js';
import type { Terminal } from '../terminal.js';
import { callOnce } from './call-once.js';
import { clientFor } from './client.js';
import type { Finish } from './finish.js';
import { notesOf } from './notes.js';
import { observe } from './observe.js';
import { open, type Setting } from './opening.js';
import type { InvokePlan } from './plan.js';

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
  return (await import('./call-repeatedly.js')).callRepeatedly;
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
