import { RecentCalls } from '../../src/events/bounded-events.js';
import { Content } from '../../src/events/content.js';
import type { Event, Fact } from '../../src/events/events.js';
import { createLog } from '../../src/events/log.js';
import type { ToolCall } from '../../src/events/tool-call.js';

export const TOKEN = 'tok-0123456789abcdef';
export const CALLBACK_URL = `http://127.0.0.1:4000/callback/${TOKEN}`;
export const THREAD = 'thread_a';

type Fields = Partial<Record<string, unknown>>;

/** Builds the events of a mock: `at(3).receives('call_1')`. The key of a call is its id. */
export class MockEvents {
  readonly events: Event[] = [];
  readonly calls = new RecentCalls();
  #now = 0;
  readonly log = createLog(() => this.#now);

  constructor() {
    this.log.subscribe(event => {
      this.events.push(event);
      this.calls.apply(event);
    });
  }

  /** Sets the time of the next events, in ms since the start. */
  at(ms: number): this {
    this.#now = ms;
    return this;
  }

  emit(fact: Fact): Event {
    return this.log.emit(fact);
  }

  call(id: string): ToolCall {
    const call = this.calls.get(id)?.call;
    if (!call) throw new Error(`without call ${id}`);
    return call;
  }

  /** An invocation and its acknowledgement. */
  receives(id: string, fields: Fields = {}, { attempt = 1, status = 200 } = {}): this {
    const invocation = {
      operation: 'edit_file',
      arguments: { path: 'a.txt' },
      id,
      callback_url: CALLBACK_URL,
      group_id: THREAD,
      ...fields,
    };
    const leg = this.log.leg();
    const about = { calls: [id], thread: THREAD };
    const wire = { leg, headers: { 'content-type': 'application/json' }, ...about };
    const body = Content.ofJson(invocation);
    const to = {
      from: 'runtime',
      to: 'tool',
      purpose: 'invocation',
      method: 'POST',
      url: '/invoke',
    } as const;
    this.emit({ kind: 'request', ...to, ...wire, body, attempt });
    this.emit({ kind: 'response', ...wire, status });
    return this;
  }

  matches(id: string, fixture: string): this {
    this.emit({ kind: 'matched', fixture, calls: [id], thread: THREAD });
    return this;
  }

  /** As the mock reports a call that nothing answers. */
  misses(id: string, nearest?: { fixture: string; path: string; reason: string }): this {
    this.about(id, { kind: 'warned', message: 'no fixture matches this call' });
    return this.about(id, { kind: 'matched', fixture: null, ...(nearest && { nearest }) });
  }

  about(id: string, fact: Fact): this {
    this.emit({ ...fact, calls: [id], thread: THREAD });
    return this;
  }

  /** An attempt to deliver a callback. @returns what reports its response or its failure */
  sends(id: string, message: Fields | string, attempt = 1) {
    const leg = this.log.leg();
    const about = { calls: [id], thread: THREAD, leg };
    const text = typeof message === 'string' ? message : JSON.stringify({ group_id: THREAD, id, ...message });
    const to = {
      from: 'tool',
      to: 'runtime',
      purpose: 'callback',
      method: 'POST',
      url: CALLBACK_URL,
    } as const;
    const body = new Content(Buffer.from(text));
    this.emit({ kind: 'request', ...to, ...about, headers: {}, body, attempt });
    return {
      leg,
      answered: (ms: number, status = 200) =>
        this.at(ms).emit({ kind: 'response', ...about, headers: {}, status }),
      broken: (ms: number, code: string) =>
        this.at(ms).emit({ kind: 'broken', ...about, phase: 'connect', code }),
    };
  }
}

/** A call whose result was delivered, received at `at` ms and answered 200 ms later. */
export function delivered(mock: MockEvents, id: string, at = 1_000): void {
  mock.at(at).receives(id).matches(id, 'edit-main');
  mock
    .at(at + 190)
    .sends(id, { type: 'tool_result', text: 'done' })
    .answered(at + 200);
}
