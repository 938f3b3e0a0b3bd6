import { Content } from '../exchange/content.js';
import type { Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import { idOf } from '../exchange/judge.js';
import type { Log } from '../exchange/log.js';
import type { Callback } from '../protocol/callbacks/index.js';
import type { CallbackReading } from '../protocol/callbacks/read.js';
import type { Invocation } from '../protocol/invocation.js';

/** What a callback names its call by. */
export interface CallIds {
  readonly groupId: string;
  readonly id: string;
}

/** Of a call that somebody else makes its callbacks show no more than the ids. */
const UNKNOWN = '(unknown)';

/**
 * Calls that somebody else makes, and whose callbacks come here: those that are expected, and nothing else counts; or, where
 * nobody said which, each that a callback names.
 */
export class ForeignCalls {
  readonly #expected = new Set<string>();

  /** @param history must be subscribed to `log` */
  constructor(
    private readonly log: Log,
    private readonly history: History,
    private readonly callbackUrl: string,
  ) {}

  /** From now on only this call counts, and others of which it was said too. */
  expect(ids: CallIds): void {
    this.#expected.add(this.#begin(ids));
  }

  /** Keys of the calls that were said to be expected. */
  get expected(): ReadonlySet<string> {
    return this.#expected;
  }

  /** The call that a callback is to be judged by; undefined where it names none. */
  callOf(reading: CallbackReading): Exchange | undefined {
    const key = reading.ok ? this.#keyOf(reading.message) : this.#only();
    return key === undefined ? undefined : this.history.exchanges.get(key);
  }

  #keyOf(message: Callback): string {
    const { group_id: groupId } = message;
    const id = idOf(message);
    const known = id === undefined ? this.#latestOf(groupId) : keyOf({ groupId, id });
    if (known !== undefined && this.history.exchanges.has(known)) return known;
    return this.#nearest(groupId) ?? this.#begin({ groupId, id: id ?? UNKNOWN });
  }

  #begin(ids: CallIds): string {
    const key = keyOf(ids);
    const invocation: Invocation = {
      operation: UNKNOWN,
      arguments: {},
      id: ids.id,
      callback_url: this.callbackUrl,
      group_id: ids.groupId,
    };
    const body = Content.ofJson(invocation);
    this.log.emit({ kind: 'expected', calls: [key], thread: ids.groupId, body });
    return key;
  }

  /** A view belongs to its thread alone. */
  #latestOf(groupId: string): string | undefined {
    return this.history.threads.get(groupId)?.calls.findLast(key => this.history.exchanges.has(key));
  }

  /** What a stranger is compared with: a call of its thread, else the first. */
  #nearest(groupId: string): string | undefined {
    const keys = [...this.#expected];
    return keys.find(key => this.history.exchanges.get(key)?.invocation.group_id === groupId) ?? keys[0];
  }

  #only(): string | undefined {
    const [key] = this.#expected;
    return this.#expected.size === 1 ? key : undefined;
  }
}

function keyOf({ groupId, id }: CallIds): string {
  return JSON.stringify([groupId, id]);
}
