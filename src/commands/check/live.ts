import { setMaxListeners } from 'node:events';
import { ProtocolCliError } from '../../errors.js';
import type { Event } from '../../exchange/events.js';
import { createLog } from '../../exchange/log.js';
import { cameWithin } from '../../system/within.js';
import { createRedactor } from '../../text/redact.js';
import type { ExitStatus } from '../exit-status.js';
import { readHeaders, secretsOf } from '../headers.js';
import { interruption } from '../interruption.js';
import type { ServerTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import type { Desk, Making } from './desk.js';
import { hasQuery, nameOf, QUERY_UNSENT, secretsOfQuery } from './named-target.js';
import type { CheckPlan } from './plan.js';
import { probe } from './probing.js';
import { savingTo } from './saving.js';
import { checkedSecrets } from './secrets.js';
import { openStops } from './stops.js';
import type { Witness } from './witness.js';

/** What was seen of a tool, to the end or until somebody stopped it. */
export interface LiveWitness extends Witness {
  /** Of the signal that came before the end; undefined where none did. */
  readonly interrupted: ExitStatus | undefined;
}

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
  const { onStop, stopAll } = openStops();
  try {
    return await watch(target, { plan, terminal, making, interrupted, onStop }, stopAll);
  } finally {
    await stopAll();
    interrupted.release();
  }
}

async function watch(
  target: ServerTarget,
  desk: Desk,
  stopAll: () => Promise<unknown>,
): Promise<LiveWitness> {
  const { interrupted } = desk;
  const { log, events, redactor } = keeping(target, desk);
  if (hasQuery(target)) log.emit({ kind: 'warned', message: QUERY_UNSENT });
  const { finish, file, lines } = await savingTo(log, redactor, desk);
  const probing = probe(target, log, desk);
  const trouble = await interrupted.race(probing).then(() => null, asTrouble);
  await stopAll();
  await cameWithin(Promise.allSettled([probing]), LAST_WORDS_MS); // so that nothing happens after the end
  const status = interrupted.signalStatus();
  await finish(status === undefined ? (trouble?.code ?? 'done') : 'interrupted');
  if (trouble && status === undefined) throw trouble;
  const recording = {
    observer: 'runtime',
    events,
    isWhole: status === undefined,
    ...(lines && { lines }),
  } as const;
  return {
    target: await nameOf(target),
    ...(file !== undefined && { file }),
    recordings: [recording],
    gaps: [],
    redactor,
    interrupted: status,
  };
}

/** A log of which all is kept, and what is secret in it is learned (threats, row 25). */
function keeping(target: ServerTarget, { plan, terminal, making }: Desk) {
  const headers = readHeaders(plan.flags, terminal.env);
  const redactor = checkedSecrets(createRedactor([...secretsOf(headers), ...secretsOfQuery(target)]));
  const log = createLog(() => making.clock.now());
  const events: Event[] = [];
  log.subscribe(event => {
    redactor.learn(event);
    events.push(event);
  });
  return { log, events, redactor };
}

function asTrouble(error: unknown): ProtocolCliError {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}
