import type { Log } from '../exchange/log.js';
import type { Arrived } from '../runtime/callback-server.js';
import type { Reply } from '../transport/server.js';
import { cameBy, type Patience, pause } from './patience.js';

/** What a callback is answered: a status; 200 after a while; nothing for a while, and then a broken connection; that at once. */
export type Answering = number | 'slow' | 'hang' | 'reset';

export interface Hanging extends Patience {
  /** Until a callback that hangs is cut off, where its sender does not give up before. */
  readonly hangMs: number;
}

export interface Unanswered {
  readonly leg: string;
  readonly calls: string[];
  readonly arrived: Arrived;
}

const SLOW_MS = 1_000;

/** Answers a callback, or does not, and tells the log which. */
export async function answer(
  log: Log,
  hanging: Hanging,
  { leg, calls, arrived }: Unanswered,
  answering: Answering,
): Promise<Reply> {
  if (answering === 'slow') await pause(hanging, SLOW_MS);
  if (answering === 'hang' || answering === 'reset') {
    const isGone = answering === 'hang' && (await cameBy(hanging, hanging.hangMs, gone(arrived)));
    log.emit({ kind: 'broken', leg, calls, phase: 'answer', code: isGone ? 'ECONNRESET' : 'ABORTED' });
    return 'reset';
  }
  const status = answering === 'slow' ? 200 : answering;
  const kept = await log.kept().then(
    () => status,
    () => 503,
  );
  log.emit({ kind: 'response', leg, calls, status: kept, headers: {} });
  return { status: kept };
}

function gone({ onGone }: Arrived): Promise<void> {
  return new Promise(resolve => onGone?.(resolve));
}
