import type { Answer } from '../../dialects/dialect.js';
import { ProtocolCliError } from '../../errors.js';
import { createRedactor } from '../../text/redact.js';
import { type Answerer, clientError } from './answerer.js';
import { pause } from './pause.js';
import type { PendingCall } from './pending-calls.js';
import { interruptedSession, Platform } from './platform.js';
import type { PlatformDesk } from './recorded-send.js';
import { ResultsPoster } from './results-poster.js';
import { SessionWatch } from './session-watch.js';
import { type Settled, settle, tellAnswered } from './settled.js';
import { cleanJson, withoutKey } from './without-key.js';

/** How a session ended, or that nothing came from it any more; the key is nowhere in it. */
export interface SessionEnd {
  readonly id: string;
  readonly status: string;
  /** False where it was given up, since nothing was new for so long. */
  readonly isSettled: boolean;
  readonly error: string | null;
  /** JSON, what the agent says in the end; undefined where nothing is said. */
  readonly answer: unknown;
}

/** So long a question for news may stay open (platforms). */
const LONG_POLL_MS = 20_000;
/** A platform that answers at once is not asked again at once. */
const LEAST_PACE_MS = 500;
/** Where answers are held up: no event tells that a session waits again. */
const RECHECK_MS = 1_000;

/**
 * Answers the calls of a session until it settles: those of one wait side by side, then one body for all of them (platforms).
 * @param waitMs without news, after which it is given up; 0 waits for ever
 * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
 */
export async function answering(
  { log: open, ...rest }: PlatformDesk,
  answerer: Answerer,
  waitMs: number,
): Promise<SessionEnd> {
  const log = withoutKey(open, rest.key);
  const desk = { ...rest, log };
  const { clock, thread } = desk;
  const platform = new Platform(desk);
  const watch = new SessionWatch(desk, platform);
  const poster = new ResultsPoster(desk, platform, watch);
  const answered = new Set<string>();
  const ready = new Map<string, Settled>(); // and not delivered
  const makeReady = async (due: readonly PendingCall[]) => {
    const unasked = due.filter(({ key }) => !ready.has(key));
    for (const settled of await answersTo(desk, answerer, unasked)) ready.set(settled.call.key, settled);
  };
  const patience = (left: number) =>
    watch.listed.some(({ key }) => ready.has(key)) ? Math.min(left, RECHECK_MS) : left;
  await watch.look(0);
  let newsAt = clock.now();
  while (!watch.isSettled) {
    const due = watch.pending.filter(({ key }) => !answered.has(key));
    if (due.length > 0) {
      await makeReady(due);
      for (const key of await poster.post(due.flatMap(({ key }) => ready.get(key) ?? []))) {
        answered.add(key);
        ready.delete(key);
      }
      newsAt = clock.now();
      continue; // where the way there was not smooth, more is known by now
    }
    const left = waitMs === 0 ? Number.POSITIVE_INFINITY : newsAt + waitMs - clock.now();
    if (left <= 0) {
      log.emit({ kind: 'expired', what: 'timeout', afterMs: waitMs, thread });
      break;
    }
    if (await patientLook(desk, watch, patience(left))) newsAt = clock.now();
  }
  return endOf(watch, thread, rest.key);
}

function endOf({ status, isSettled, error, answer }: SessionWatch, id: string, key: string): SessionEnd {
  const { text: clean } = createRedactor([key]);
  return {
    id,
    status: clean(status),
    isSettled,
    error: error === null ? null : clean(error),
    answer: cleanJson(answer, clean),
  };
}

/** Waits for news, `ms` milliseconds at most. */
async function patientLook(
  { clock, signal }: PlatformDesk,
  watch: SessionWatch,
  ms: number,
): Promise<boolean> {
  const over = new AbortController();
  const began = clock.now();
  const cancel = ms < LONG_POLL_MS ? clock.after(ms, () => over.abort()) : () => {};
  const isNew = await watch.look(Math.ceil(Math.min(ms, LONG_POLL_MS) / 1_000), over.signal).finally(cancel);
  const tooSoon = LEAST_PACE_MS - (clock.now() - began);
  if ((!isNew || watch.isEndless) && tooSoon > 0) await pause(clock, Math.min(tooSoon, ms), signal);
  return isNew;
}

/** @throws ProtocolCliError `interrupted`, without waiting for those who do not heed the signal. */
async function answersTo(
  desk: PlatformDesk,
  answerer: Answerer,
  due: readonly PendingCall[],
): Promise<Settled[]> {
  const { signal } = desk;
  const answers = Promise.all(due.map(call => answerTo(desk, answerer, call)));
  let leave = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    leave = () => reject(interruptedSession());
  });
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  return Promise.race([answers, interrupted]).finally(() => signal.removeEventListener('abort', leave));
}

async function answerTo(desk: PlatformDesk, answerer: Answerer, call: PendingCall): Promise<Settled> {
  const { signal } = desk;
  const answer =
    call.fault === undefined ? await asked(answerer, call, signal) : clientError(call, call.fault);
  const settled = settle(call, answer);
  return signal.aborted ? settled : tellAnswered(desk, settled);
}

async function asked(answerer: Answerer, call: PendingCall, signal: AbortSignal): Promise<Answer> {
  try {
    return await answerer.answer(call, { signal });
  } catch (error) {
    return clientError(call, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n');
  return error instanceof Error ? error.message : String(error);
}
