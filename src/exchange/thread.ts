import type { ViewUpdate } from '../protocol/callbacks/index.js';
import type { Arrival, Exchange } from './exchange.js';

/** The latest state of one view of a thread (RT-VIEW). */
export interface View {
  readonly type: string;
  /** Opaque (RT-VIEW). */
  readonly content: Readonly<Record<string, unknown>>;
  /** Ms since the start. */
  readonly at: number;
  /** The call at whose callback URL it came. */
  readonly call: string;
  /** How many states it has had. */
  readonly updates: number;
  /** Bytes of the callback. */
  readonly size: number;
}

/** A conversation: its calls, and what its tools show beside their results. */
export interface Thread {
  readonly id: string;
  /** Root first, the parent last. */
  readonly ancestors: readonly string[];
  /** Keys, in the order in which they were made. */
  readonly calls: readonly string[];
  /** By type; one that was cleared is not there. */
  readonly views: ReadonlyMap<string, View>;
  readonly closedAt: number | null;
}

/** A thread with one more call; the first one begins it. */
export function withCall(thread: Thread | undefined, { key, invocation }: Exchange): Thread {
  const { group_id: id, thread_ancestors } = invocation;
  const begun = thread ?? { id, ancestors: [], calls: [], views: new Map(), closedAt: null };
  return { ...begun, ancestors: thread_ancestors ?? begun.ancestors, calls: [...begun.calls, key] };
}

/** A thread after a view that counts. */
export function withView(thread: Thread, call: string, { at, message, verdict, size }: Arrival): Thread {
  if (verdict.kind !== 'noted' || message?.type !== 'view_update') return thread;
  return { ...thread, views: withUpdate(thread.views, message, { at, call, size }) };
}

/** Views after one more: it takes the place of the one of its type, and clears it where it is empty. */
export function withUpdate(
  views: Thread['views'],
  { view_type: type, content }: ViewUpdate,
  from: Pick<View, 'at' | 'call' | 'size'>,
): Thread['views'] {
  const next = new Map(views);
  const updates = (views.get(type)?.updates ?? 0) + 1;
  if (Object.keys(content).length === 0) next.delete(type);
  else next.set(type, { type, content, updates, ...from });
  let bytes = 0;
  for (const { size } of next.values()) bytes += size;
  for (const [oldest, { size }] of next) {
    if (next.size <= MOST.views && bytes <= MOST.bytes) break;
    if (oldest === type) continue;
    next.delete(oldest);
    bytes -= size;
  }
  return next;
}

/** Of one thread: a tool may name a new view type each time. Beyond this the oldest types are dropped. */
const MOST = { views: 64, bytes: 32 * 1024 * 1024 };
