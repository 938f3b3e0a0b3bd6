import { faultsOf, openEndsOf } from './rules.mjs';

/** For what comes in the end, on a busy machine too. */
const PATIENCE_MS = 45_000;

/** One invocation and all that became of it. */
export class Call {
  /** `{status, ms, headers, body, ended}`; `{status: null, error}` where no answer came; null until then. */
  ack = null;
  /** From the head of the acknowledgement on. */
  isAcknowledged = false;
  callbacks = [];
  /** When a cancel notice for it, or the end of its thread, had been acknowledged: ms since its start. */
  endedMs = null;
  /** What was POSTed to a `response_url`: `{selected, status, body}`. */
  selections = [];
  startedAt = performance.now();
  #watchers = new Set();
  #handedOut = 0;

  constructor(invocation, secrets) {
    this.invocation = invocation;
    this.secrets = secrets;
  }

  take(callback) {
    this.callbacks.push(callback);
    for (const watcher of [...this.#watchers]) watcher.look();
  }

  /** What is wrong so far, as `{id, why}`. */
  get faults() {
    return faultsOf(this);
  }

  /** The same once nothing more is expected: no result, or a delivery that was given up at once, are faults too. */
  verdict() {
    return [...faultsOf(this), ...openEndsOf(this)];
  }

  /** The first callback, past or future, that fits: a type, or a test of the callback. @throws Error without success */
  waitFor(fits, withinMs = PATIENCE_MS) {
    const test = typeof fits === 'function' ? fits : ({ body }) => body?.type === fits;
    return this.#first(() => this.callbacks.find(test), `a callback that fits ${fits}`, withinMs);
  }

  /** The callback after the one that was given last. */
  async next(withinMs = PATIENCE_MS) {
    const index = this.#handedOut;
    this.#handedOut += 1;
    return this.#first(() => this.callbacks[index], `callback ${index + 1}`, withinMs);
  }

  /** The first `tool_result` that was answered with a 2xx. */
  result(withinMs = PATIENCE_MS) {
    return this.waitFor(({ body, status }) => body?.type === 'tool_result' && isTaken(status), withinMs);
  }

  /** Ends every wait: the runtime is going. */
  leave() {
    for (const watcher of [...this.#watchers]) watcher.fail('the runtime was closed');
  }

  #first(find, what, withinMs) {
    const found = find();
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
      };
      const watcher = {
        look: () => {
          const callback = find();
          if (!callback) return;
          stop();
          resolve(callback);
        },
        fail: why => {
          stop();
          reject(new Error(`${what}: ${why}; ${this.#story()}`));
        },
      };
      const timer = setTimeout(() => watcher.fail(`none within ${withinMs} ms`), withinMs);
      this.#watchers.add(watcher);
    });
  }

  #story() {
    const came = this.callbacks.map(({ raw, answered }) => `${raw.slice(0, 200)} (answered ${answered})`);
    return `acknowledged ${this.ack?.status}, received ${came.length ? came.join(', ') : 'nothing'}`;
  }
}

function isTaken(status) {
  return status >= 200 && status < 300;
}
