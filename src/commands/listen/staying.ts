import { ProtocolCliError } from '../../errors.js';
import type { Event } from '../../exchange/events.js';
import type { History } from '../../exchange/history.js';
import type { Log } from '../../exchange/log.js';
import type { OpenListener } from '../../runtime/open-listener.js';
import type { Clock } from '../../system/clock.js';
import { isClosed } from '../../system/output.js';
import type { Interruption } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { heardIn } from './heard.js';

/** Why it stays no longer: somebody stopped it, enough came, the time is over, or nobody reads what is told. */
export type Parting = 'stopped' | 'enough' | 'timeout' | 'unread';

export interface Stay {
  readonly log: Log;
  readonly history: History;
  readonly listener: OpenListener;
  readonly clock: Clock;
  readonly interrupted: Interruption;
  readonly terminal: Terminal;
  /** Results; null: it stays. */
  readonly count: number | null;
  /** 0: it stays. */
  readonly timeoutMs: number;
}

/**
 * Resolves when it is time to go.
 * @throws ProtocolCliError `unwritable-file` where what comes can no longer be told, as on a full disk.
 */
export function staying(stay: Stay): Promise<Parting> {
  const { log, clock, interrupted, timeoutMs } = stay;
  const { stdout } = stay.terminal;
  return new Promise((resolve, reject) => {
    const isEnough = counting(stay);
    const stops: (() => void)[] = [];
    const leave = (parting: Parting | ProtocolCliError) => {
      for (const stop of stops) stop();
      if (parting instanceof ProtocolCliError) reject(parting);
      else resolve(parting);
    };
    stops.push(
      log.subscribe(event => isEnough(event) && leave('enough')),
      timeoutMs > 0 ? clock.after(timeoutMs, () => leave('timeout')) : () => {},
      onFailure(stdout, error => leave(error ?? 'unread')),
      interrupted.onSignal(() => leave('stopped')),
    );
  });
}

function counting({ history, listener, count }: Stay): (event: Event) => boolean {
  let results = 0;
  return event => {
    const heard = count === null ? null : heardIn(history, listener.calls.expected, event);
    if (heard?.kind === 'callback' && heard.arrival.verdict.kind === 'settles') results += 1;
    return count !== null && results >= count;
  };
}

function onFailure(
  stdout: NodeJS.WritableStream,
  call: (error: ProtocolCliError | null) => void,
): () => void {
  const listener = (error: Error) =>
    call(
      isClosed(stdout)
        ? null
        : new ProtocolCliError('unwritable-file', `cannot write the output: ${error.message}`, {
            cause: error,
          }),
    );
  stdout.on('error', listener);
  return () => stdout.off('error', listener);
}
