import { isDeepStrictEqual } from 'node:util';

const SETTLED = ['completed', 'failed', 'timed_out', 'interrupted', 'idle'];

/** One session that plays its rounds: each begins once every call of the one before has its result. */
export class Session {
  #script;
  #round = 0;
  #pending = [];
  #applied = [];
  #events = [];
  #waiting = new Set();
  #end = {};
  status = 'running';

  constructor(script) {
    this.#script = script;
    for (const event of script.events ?? []) this.#publish(event);
    this.#goOn();
  }

  get head() {
    const { error = null, answer = null } = this.#end;
    return { status: this.status, started_at: null, finished_at: null, error, answer, metrics: {} };
  }

  get summary() {
    return { status: this.status, settled: this.#applied, pending: this.#pending };
  }

  /** The events from there on; null where none exist after so many seconds. */
  async newsFrom(index, seconds) {
    if (this.#events.length <= index && seconds > 0) await this.#next(seconds * 1000);
    return this.#events.length > index ? this.#events.slice(index) : null;
  }

  take(body) {
    const results = body?.type === 'batch' ? body.results : [body];
    if (!Array.isArray(results) || !results.every(isSettledCall)) return refusal('Invalid result format.');
    if (SETTLED.includes(this.status)) return { status: 409, body: { detail: 'Session finished.' } };
    const left = [...this.#pending];
    for (const { tool_req } of results) {
      const at = left.findIndex(call => isSame(call, tool_req));
      if (at < 0 && (this.#script.settled ?? 422) === 422)
        return refusal(`Unknown tool_req.id: ${tool_req.id}`);
      if (at >= 0) left.splice(at, 1);
    }
    this.#applied.push(...results);
    this.#pending = left;
    if (left.length > 0) this.#announce();
    else this.#goOn();
    return { status: 202 };
  }

  interrupt() {
    this.#pending = [];
    this.#finish({ status: 'interrupted', error: 'interrupted by a person' });
  }

  publish(event) {
    this.#publish(event);
  }

  /** As another client would. */
  settleFirst() {
    const [tool_req] = this.#pending;
    this.take({ kind: 'tool_result', tool_req, result: 'by someone else' });
  }

  #goOn() {
    this.#publish(stateChange('running', []));
    const next = (this.#script.rounds ?? [])[this.#round++];
    if (!next) return this.#finish(this.#script.end);
    this.#pending = next.calls;
    this.#announce();
  }

  #announce() {
    this.status = 'awaiting_tool_results';
    this.#publish(stateChange('awaiting_tool_results', this.#pending));
  }

  #finish(end = {}) {
    this.#end = end;
    this.status = this.#end.status ?? 'completed';
    this.#publish({ type: 'AgentFinishedEvent', data: this.#end });
  }

  #publish(event) {
    this.#events.push(event);
    for (const wake of this.#waiting) wake();
  }

  #next(ms) {
    return new Promise(resolve => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}

function stateChange(state, pending_tool_calls) {
  return {
    type: 'ActiveStateChangeEvent',
    data: { state, pending_tool_calls },
    timestamp: new Date().toISOString(),
  };
}

function isSettledCall(call) {
  if (call?.kind === 'tool_result') return typeof call.tool_req?.tool_name === 'string';
  const isError =
    call?.kind === 'error_event' && typeof call.error === 'string' && typeof call.origin === 'string';
  return isError && typeof call.tool_req?.tool_name === 'string';
}

/** By its id; by name and arguments where that is null. */
function isSame(call, request) {
  if (call.id || request.id) return call.id === request.id;
  return call.tool_name === request.tool_name && isDeepStrictEqual(call.args ?? {}, request.args ?? {});
}

function refusal(msg) {
  return { status: 422, body: { detail: [{ type: 'value_error', loc: ['body'], msg, input: null }] } };
}
