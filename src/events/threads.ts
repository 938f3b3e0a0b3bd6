import type { Callback } from '../protocol/callbacks.js';
import { LIMITS } from '../util/limits.js';
import type { Arrival, Exchange } from './exchange.js';

/** The latest state of one view of a thread (RT-VIEW). */
export interface View {
  readonly type: string;
  /** Opaque (RT-VIEW). */
  readonly content: Readonly<Record<string, unknown>>;
  readonly at: number;
  /** The call at whose callback URL it came. */
  readonly call: string;
  /** How many states it has had. */
  readonly updates: number;
  readonly size: number;
}

/** A conversation: its calls and views. */
export interface Thread {
  readonly id: string;
  /** Root first, the parent last. */
  readonly ancestors: readonly string[];
  readonly calls: readonly string[];
  readonly views: ReadonlyMap<string, View>;
  readonly closedAt: number | null;
}

/** Adds a call; the first one begins the thread. */
export function withCall(thread: Thread | undefined, { key, invocation }: Exchange): Thread {
  const { group_id: id, thread_ancestors } = invocation;
  const begun = thread ?? { id, ancestors: [], calls: [], views: new Map(), closedAt: null };
  return { ...begun, ancestors: thread_ancestors ?? begun.ancestors, calls: [...begun.calls, key] };
}

/** Adds an accepted view. */
export function withView(thread: Thread, call: string, { at, message, verdict, size }: Arrival): Thread {
  if (verdict.kind !== 'noted' || message?.type !== 'view_update') return thread;
  return { ...thread, views: withUpdate(thread.views, message, { at, call, size }) };
}

/** Replaces the view of the same type; empty content clears it. */
export function withUpdate(
  views: Thread['views'],
  { view_type: type, content }: Extract<Callback, { type: 'view_update' }>,
  from: Pick<View, 'at' | 'call' | 'size'>,
): Thread['views'] {
  const next = new Map(views);
  const updates = (views.get(type)?.updates ?? 0) + 1;
  if (Object.keys(content).length === 0) next.delete(type);
  else next.set(type, { type, content, updates, ...from });
  let bytes = 0;
  for (const { size } of next.values()) bytes += size;
  for (const [oldest, { size }] of next) {
    if (next.size <= LIMITS.eventsOfCall.value && bytes <= LIMITS.keptBytes.value) break;
    if (oldest === type) continue;
    next.delete(oldest);
    bytes -= size;
  }
  return next;
}
