import * as z from 'zod/mini';
import type { Content } from './content.js';

/*
 * The facts an exchange is made of. Nothing that follows from them (acknowledged, matched, late, the outcome) is a fact:
 * that is what `step` is for. A new kind of fact is one schema and one line in `factSchema`.
 */

const PARTIES = ['runtime', 'tool', 'platform', 'client', 'unknown'] as const;
const PURPOSES = [
  'discovery',
  'invocation',
  'callback',
  'choice',
  'consent',
  'cancel',
  'close',
  'migrate',
  /** Of agent sessions: to create, read, list, pause, resume or delete one. */
  'session',
  /** Of agent sessions: to ask what is new, at once or as a long poll. */
  'changes',
  'message',
  'tool_results',
] as const;

/** The wire a message is on; without one it is RAP's. */
const WIRES = ['session', 'mcp'] as const;

/** On which side of a recorder: it sees each message twice. */
const HOPS = ['runtime-side', 'tool-side'] as const;

/** What every event carries: its place, its time in monotonic ms since the start, and which calls it concerns. */
const envelope = {
  seq: z.int().check(z.nonnegative()),
  at: z.number().check(z.nonnegative()),
  /** Keys of the calls concerned; a callback belongs to the call whose callback URL it used. */
  calls: z.optional(z.array(z.string())),
  /** The thread (`group_id`) concerned, where it is known. */
  thread: z.optional(z.string()),
  /** From an earlier run, replayed for display. */
  earlier: z.optional(z.literal(true)),
};

/**
 * Which message of its call this is, from 0, and where its reply goes on after it: a path of steps and labels; nowhere where there is
 * none. Without a turn it is the only one.
 */
const turnSchema = z.object({
  index: z.int().check(z.nonnegative()),
  next: z.optional(z.array(z.union([z.int(), z.string()]))),
});

const headersSchema = z.record(z.string(), z.string());

/** The wire's facts; `body` is whatever stands for bytes: the bytes in memory, a reference in a file. */
function wireFacts<Body extends z.ZodMiniType>(body: Body) {
  return [
    z.object({
      kind: z.literal('request'),
      ...envelope,
      /** Joins a request to what became of it. */
      leg: z.string(),
      from: z.enum(PARTIES),
      to: z.enum(PARTIES),
      purpose: z.enum(PURPOSES),
      dialect: z.optional(z.enum(WIRES)),
      /** Without one, the message went from its sender to its receiver. */
      hop: z.optional(z.enum(HOPS)),
      method: z.string(),
      url: z.string(),
      headers: headersSchema,
      body: z.optional(body),
      attempt: z.int().check(z.positive()),
      turn: z.optional(turnSchema),
    }),
    z.object({
      kind: z.literal('response'),
      ...envelope,
      leg: z.string(),
      status: z.int(),
      headers: headersSchema,
      body: z.optional(body),
      /** Why a listener refused the request before its body counted: a foreign Host, a browser, too large … */
      refusal: z.optional(z.string()),
    }),
    z.object({
      kind: z.literal('broken'),
      ...envelope,
      leg: z.string(),
      phase: z.string(),
      code: z.string(),
    }),
    /** An invocation sent by another program whose callbacks this listener receives. */
    z.object({ kind: z.literal('expected'), ...envelope, body: z.optional(body) }),
    /** A pending call of an agent session has its answer, a `tool_result` or an `error_event`: the platform took it, or the client has it ready. */
    z.object({
      kind: z.literal('answered'),
      ...envelope,
      by: z.enum(['platform', 'client']),
      body: z.optional(body),
      /** How it is not as the platform's script expects it. */
      unexpected: z.optional(z.array(z.string())),
    }),
    /** An invocation that was not sent, since it is not allowed: decided before anything went out. */
    z.object({
      kind: z.literal('denied'),
      ...envelope,
      dialect: z.optional(z.enum(WIRES)),
      by: z.enum(['person', 'policy']),
      tool: z.string(),
      reason: z.string(),
      body: z.optional(body),
    }),
  ] as const;
}

/** Facts about what was loaded, decided, planned or timed out. */
const ownFacts = [
  /** A toolset was loaded from discovery: what may be dispatched from now on (RT-OP). */
  z.object({
    kind: z.literal('loaded'),
    ...envelope,
    base: z.nullable(z.string()),
    endpoint: z.string(),
    toolset: z.string(),
    operations: z.array(z.string()),
    /** The display scripts of its tools, by name: those that are short. */
    displayScripts: z.optional(z.record(z.string(), z.string())),
  }),
  z.object({
    kind: z.literal('decided'),
    ...envelope,
    what: z.enum(['choice', 'consent', 'cancel', 'give-up']),
    by: z.enum(['person', 'flag', 'policy']),
    value: z.optional(z.union([z.string(), z.number()])),
    /** The leg on which the question came that a choice, or a consent, answers; without it, the oldest that it could. */
    question: z.optional(z.string()),
  }),
  /** Absence is a fact, with its window. */
  z.object({
    kind: z.literal('expired'),
    ...envelope,
    /** `observation`: a check has looked for so long at what was meant to be seen. */
    what: z.enum(['timeout', 'linger', 'answer', 'observation']),
    afterMs: z.number(),
  }),
  /** Which fixture answers a call, for which key and as its how-many-th; null where none does, with the nearest. */
  z.object({
    kind: z.literal('matched'),
    ...envelope,
    fixture: z.nullable(z.string()),
    key: z.optional(z.string()),
    count: z.optional(z.int().check(z.positive())),
    state: z.optional(z.object({ key: z.string(), to: z.string() })),
    nearest: z.optional(z.object({ fixture: z.string(), path: z.string(), reason: z.string() })),
  }),
  /** What middleware changed in a reply; of one that went out verbatim, what it would have changed. */
  z.object({
    kind: z.literal('shaped'),
    ...envelope,
    by: z.enum(['middleware', 'verbatim']),
    changes: z.array(z.object({ path: z.string(), change: z.enum(['redacted', 'sanitized']) })),
  }),
  /** A planned deviation from correct behavior; `demand`: the next event waits for a manual trigger. */
  z.object({
    kind: z.literal('planned'),
    ...envelope,
    by: z.enum(['fixture', 'fault', 'probe']),
    plan: z.string(),
    /** Ids of the requirements that a probe is meant to show. */
    checks: z.optional(z.array(z.string())),
    /** Of a probe's call: which of the cases it is, from 0. */
    case: z.optional(z.int().check(z.nonnegative())),
    /** Of a probe's call: it was made before, and is made once more with nothing else under way. */
    again: z.optional(z.literal(true)),
    /** Whose plan it is, where the call is not matched for it: a refused acknowledgement. */
    fixture: z.optional(z.string()),
    /** The `type` of the callback it is about, and its turn. */
    type: z.optional(z.string()),
    turn: z.optional(turnSchema),
  }),
  z.object({ kind: z.literal('warned'), ...envelope, message: z.string() }),
  /** An agent session came into a status: as we made it, or as we saw it. `thread` is its id. */
  z.object({
    kind: z.literal('session'),
    ...envelope,
    status: z.string(),
    error: z.optional(z.string()),
    /** JSON, what the agent says in the end. */
    answer: z.optional(z.unknown()),
  }),
  /** The calls that an agent session waits for; the latest counts (seed 001). */
  z.object({
    kind: z.literal('awaiting'),
    ...envelope,
    round: z.optional(z.int().check(z.nonnegative())),
    pending: z.array(
      z.object({
        /** Names the call in every event: its id, or one of ours where that is null. */
        key: z.string(),
        tool_name: z.string(),
        args: z.optional(z.unknown()),
        id: z.nullable(z.string()),
      }),
    ),
  }),
  /** Something that was due and will not happen. */
  z.object({
    kind: z.literal('dropped'),
    ...envelope,
    what: z.enum(['callback', 'event', 'invocation']),
    why: z.string(),
    count: z.int().check(z.positive()),
    /** The last attempt, where one was made. */
    leg: z.optional(z.string()),
    /** The message's `type` and turn, where no attempt shows them. */
    type: z.optional(z.string()),
    turn: z.optional(turnSchema),
  }),
] as const;

/** Where a message stands in what its call says. */
export type Turn = z.infer<typeof turnSchema>;

/** One event, with `body` as the stand-in for message bytes. */
export function factSchema<Body extends z.ZodMiniType>(body: Body) {
  return z.discriminatedUnion('kind', [...wireFacts(body), ...ownFacts]);
}

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

export type Hop = NonNullable<RequestEvent['hop']>;

/** Whether an invocation is answered in its response, as in MCP; a RAP runtime is called back instead. */
export function isDirect({ from }: Pick<RequestEvent, 'from'>): boolean {
  return from === 'client';
}

export type EventOf<Kind extends EventKind> = Extract<Event, { kind: Kind }>;

/** Names the kinds that a fold ignores, so that a new kind does not compile until it is decided. */
export function ignored<Kind extends EventKind>(_event: EventOf<Kind>): void {}
