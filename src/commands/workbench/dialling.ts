import type { Book } from '../../exchange/book.js';
import type { Log } from '../../exchange/log.js';
import type { Invocation } from '../../protocol/invocation.js';
import { converse } from '../../runtime/converse.js';
import type { Answering } from '../../runtime/questions.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Clock } from '../../system/clock.js';
import type { Manners } from './manners.js';
import type { Found } from './place.js';
import { reasonOf } from './said.js';

/** Where calls are told. */
export interface Scene {
  readonly log: Log;
  readonly book: Book;
  readonly clock: Clock;
}

/**
 * Makes a call that goes on by itself. Resolves once it is a fact.
 * @throws ProtocolCliError where it cannot be sent.
 */
export async function dial(
  { log, book: { history }, clock }: Scene,
  runtime: Runtime,
  { wire, discovered }: Found,
  invocation: Invocation,
  { timeoutMs, retries, lenientAck }: Manners,
  answering: Answering,
): Promise<void> {
  const { endpoint } = discovered.toolset;
  const call = { endpoint, invocation, timeoutMs, retries, lenientAck };
  const calls = [invocation.id];
  const begun = beginning(log, invocation.id);
  const over = converse({ runtime, wire, history, clock }, call, answering);
  await Promise.race([begun.made, over]).finally(begun.forget);
  over.catch(error => log.emit({ kind: 'warned', message: reasonOf(error), calls }));
}

/** Resolves once the call is a fact. */
function beginning(log: Log, key: string) {
  let forget = () => {};
  const made = new Promise<void>(resolve => {
    forget = log.subscribe(event => event.kind === 'request' && event.calls?.includes(key) && resolve());
  });
  return { made, forget };
}
