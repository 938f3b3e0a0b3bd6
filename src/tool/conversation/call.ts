import type { Invocation } from '../../protocol/invocation.js';
import type { Addressee } from '../../protocol/read-invocation.js';
import type { CallingOff } from './calling-off.js';

/** Somebody who waits for callbacks. */
export interface Caller {
  /** Names the call in every event; unique in a run. */
  readonly key: string;
  readonly addressee: Addressee;
  /** Our own base URL, as this runtime reaches us. */
  readonly base: string;
  readonly callingOff: CallingOff;
}

/** One invocation that is worked on. */
export interface Call {
  readonly caller: Caller;
  readonly invocation: Invocation;
  /** Of the request; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}
