import type { ViewUpdate } from '../protocol/callbacks/index.js';
import type { Arrival, Exchange } from './exchange.js';

/** The latest state of one view of a thread (RT-VIEW). */
export interface View {
  readonly type: string;
  /** Opaque; of a `diff` it is `{patch}`. */
  readonly content: Readonly<Record<string, unknown>>;
  /** Ms since the start. */
  readonly at: number;
  /** The call at whose callback URL it came. */
  readonly call: string;
  /** How many states it has had. */
  readonly updates: number;
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
export function withView(thread: Thread, call: string, { at, message, verdict }: Arrival): Thread {
  if (verdict.kind !== 'noted' || message?.type !== 'view_update') return thread;
  return { ...thread, views: withUpdate(thread.views, message, { at, call }) };
}

/** Views after one more: it takes the place of the one of its type, and clears it where it is empty. */
export function withUpdate(
  views: Thread['views'],
  { view_type: type, content }: ViewUpdate,
  from: Pick<View, 'at' | 'call'>,
): Thread['views'] {
  const next = new Map(views);
  const updates = (views.get(type)?.updates ?? 0) + 1;
  if (Object.keys(content).length === 0) next.delete(type);
  else next.set(type, { type, content, updates, ...from });
  return next;
}
