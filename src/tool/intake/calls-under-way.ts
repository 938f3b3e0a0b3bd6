import { bytesText } from '../../text/bytes-text.js';
import { CANCELLED, CallingOff, THREAD_CLOSED } from '../conversation/calling-off.js';

/** What a runtime knows of a call. One that is executed twice has the same key twice. */
interface Named {
  readonly key: string;
  readonly thread: string;
  /** Bytes of its invocation. */
  readonly size: number;
}

export interface WorkLimits {
  readonly calls: number;
  /** Of their invocations. */
  readonly bytes: number;
}

/** A call may wait for hours, with all that came with it. */
const DEFAULTS: WorkLimits = { calls: 50_000, bytes: 256 * 1024 * 1024 };

/** The calls that are worked on, to be called off by what a runtime knows of them (TOOL-CANCEL, TOOL-CLOSE). */
export class CallsUnderWay {
  readonly #open = new Map<CallingOff, Named>();
  readonly #resting = new Map<CallingOff, Named>();
  readonly #limits: WorkLimits;
  #bytes = 0;
  #whenIdle: (() => void)[] = [];

  constructor(limits: Partial<WorkLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  /** Why there is no room for one more call of `size` bytes; null where there is. */
  problem(size: number): string | null {
    const { calls, bytes } = this.#limits;
    if (this.#open.size >= calls) return `too many calls are worked on: ${calls}`;
    const isTooMuch = this.#open.size > 0 && this.#bytes + size > bytes;
    return isTooMuch ? `the calls that are worked on are too large: more than ${bytesText(bytes)}` : null;
  }

  /** @param size bytes of the invocation. */
  begin(key: string, thread: string, size = 0): CallingOff {
    const callingOff = new CallingOff();
    this.#open.set(callingOff, { key, thread, size });
    this.#bytes += size;
    return callingOff;
  }

  /** Its work is done, but events may follow: it can still be called off, and nobody waits for it. */
  rest(call: CallingOff): void {
    const named = this.#open.get(call);
    this.end(call);
    if (named) this.#resting.set(call, named);
  }

  end(call: CallingOff): void {
    this.#resting.delete(call);
    this.#bytes -= this.#open.get(call)?.size ?? 0;
    this.#open.delete(call);
    if (this.#open.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Unknown, repeated, or long over: never an error. */
  cancel(cancelled: string): void {
    this.#callOff(CANCELLED, ({ key }) => key === cancelled);
  }

  closeThread(closed: string): void {
    this.#callOff(THREAD_CLOSED, ({ thread }) => thread === closed);
  }

  stop(): void {
    this.#callOff('the tool is stopping', () => true);
  }

  /** Resolves once nothing is worked on. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#whenIdle.push(resolve));
  }

  #callOff(why: string, isMeant: (call: Named) => boolean): void {
    for (const calls of [this.#open, this.#resting])
      for (const [callingOff, named] of calls) if (isMeant(named)) callingOff.callOff(why);
  }
}
