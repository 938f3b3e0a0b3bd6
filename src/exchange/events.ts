import type * as z from 'zod/mini';
import type { Content } from './content.js';
import type { factSchema } from './facts.js';

/** One thing that happened, as plain data with the bytes at hand. */
export type Event = z.infer<ReturnType<typeof factSchema<z.ZodMiniType<Content>>>>;
export type EventKind = Event['kind'];

export type RequestEvent = Extract<Event, { kind: 'request' }>;
/** What an exchange begins with: its invocation, sent or not. */
export type InvocationEvent = RequestEvent | Extract<Event, { kind: 'expected' | 'denied' }>;
export type ResponseEvent = Extract<Event, { kind: 'response' }>;

type Unstamped<E> = E extends Event ? Omit<E, 'seq' | 'at'> : never;

/** An event before it has its place and time. */
export type Fact = Unstamped<Event>;
