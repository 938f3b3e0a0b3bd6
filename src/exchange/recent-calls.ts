import { WaitingLine } from '../text/waiting-line.js';
import type { Event } from './events.js';
import { stepToolCall, type ToolCall, typeOfDelivery } from './tool-call.js';

export interface RecentLimits {
  readonly calls: number;
  /** Of bodies. */
  readonly bytes: number;
  /** Of one call: a subscription may go on for days. Its result is always kept. */
  readonly callbacks: number;
}

const DEFAULTS: RecentLimits = { calls: 2_000, bytes: 32 * 1024 * 1024, callbacks: 200 };

interface Kept {
  readonly call: ToolCall;
  /** Bytes of its invocation. */
  readonly received: number;
  /** Bytes of that and of its callbacks. */
  readonly weight: number;
}

/** The latest calls as events tell of them one by one, in bounded memory however long that goes on: the oldest go first. */
export class RecentCalls {
  readonly #limits: RecentLimits;
  readonly #kept = new Map<string, Kept>();
  /** Keys, oldest first. */
  readonly #line = new WaitingLine<string>();
  #bytes = 0;

  constructor(limits: Partial<RecentLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  apply(event: Event): void {
    for (const key of event.calls ?? []) this.#step(key, event);
    while (this.#kept.size > this.#limits.calls || (this.#bytes > this.#limits.bytes && this.#kept.size > 1))
      this.#forgetOldest();
  }

  get(key: string): ToolCall | undefined {
    return this.#kept.get(key)?.call;
  }

  /** Oldest first; a list of its own. */
  get list(): readonly ToolCall[] {
    return Array.from(this.#kept.values(), ({ call }) => call);
  }

  #step(key: string, event: Event): void {
    const before = this.#kept.get(key);
    const next = stepToolCall(key, before?.call, event);
    if (!next) return;
    const call = shortened(next, this.#limits.callbacks);
    const received = before?.received ?? bodySize(event);
    const isHeavier = event.kind === 'request' || !before;
    const weight = isHeavier ? received + weightOfCallbacks(call) : before.weight;
    this.#bytes += weight - (before?.weight ?? 0);
    if (!before) this.#line.push(key);
    this.#kept.set(key, { call, received, weight });
  }

  #forgetOldest(): void {
    const key = this.#line.shift() ?? '';
    this.#bytes -= this.#kept.get(key)?.weight ?? 0;
    this.#kept.delete(key);
  }
}

/** A quarter goes at a time: not every callback of a long call is to cost a copy of all of them. */
function shortened(call: ToolCall, most: number): ToolCall {
  const { deliveries, warnings, dropped, plans } = call;
  const lists = {
    warnings: latest(warnings, most),
    dropped: latest(dropped, most),
    plans: latest(plans, most),
  };
  if (deliveries.length <= most) return { ...call, ...lists };
  const from = deliveries.length - Math.ceil(most * 0.75);
  const kept = deliveries.filter((each, index) => index >= from || typeOfDelivery(each) === 'tool_result');
  return { ...call, ...lists, deliveries: kept, forgotten: call.forgotten + deliveries.length - kept.length };
}

function latest<T>(list: readonly T[], most: number): readonly T[] {
  return list.length <= most ? list : list.slice(-most);
}

function weightOfCallbacks({ deliveries }: ToolCall): number {
  return deliveries.reduce((sum, { body }) => sum + (body?.size ?? 0), 0);
}

function bodySize(event: Event): number {
  return event.kind === 'request' ? (event.body?.size ?? 0) : 0;
}
