import * as z from 'zod/mini';

/*
 * The facts that make up an exchange. Derived values (acknowledged, matched, late, the outcome) are not facts: `step` computes
 * them. A new kind of fact is one schema and one line in `factSchema`.
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
  /** Creates, reads, lists, pauses, resumes or deletes an agent session. */
  'session',
  /** Gets the new events of an agent session, at once or as a long poll. */
  'changes',
  'message',
  'tool_results',
  /** A delivery to a receiver of webhooks. */
  'webhook',
] as const;

/** The protocol of a message; default: RAP. */
const WIRES = ['session', 'mcp'] as const;

/** The side of a recorder: a recorder sees each message twice. */
const HOPS = ['runtime-side', 'tool-side'] as const;

/** Fields of every event. `seq` is its position, `at` its time in monotonic ms since the start. */
const envelope = {
  seq: z.int().check(z.nonnegative()),
  at: z.number().check(z.nonnegative()),
  /** For how much of `at` a check could not run, in ms: it does not count as slowness of its peer. Default: 0. */
  stalled: z.optional(z.number().check(z.positive())),
  /** Keys of the calls concerned; a callback belongs to the call whose callback URL it used. */
  calls: z.optional(z.array(z.string())),
  /** The thread (`group_id`) concerned, if known. */
  thread: z.optional(z.string()),
};

/** The fixture that comes nearest to a call, and where it differs. */
const nearestSchema = z.object({ fixture: z.string(), path: z.string(), reason: z.string() });

/** The index of a message in its call, from 0. A message without a turn is the only one. */
const turnSchema = z.object({ index: z.int().check(z.nonnegative()) });

const headersSchema = z.record(z.string(), z.string());

/** Facts about messages; `body` stands for the bytes: the bytes themselves in memory, a reference in a file. */
function wireFacts<Body extends z.ZodMiniType>(body: Body) {
  return [
    z.object({
      kind: z.literal('request'),
      ...envelope,
      /** Connects a request with its response or failure. */
      leg: z.string(),
      from: z.enum(PARTIES),
      to: z.enum(PARTIES),
      purpose: z.enum(PURPOSES),
      dialect: z.optional(z.enum(WIRES)),
      /** Without it, the message went directly from the sender to the receiver. */
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
      /** Why a listener refused the request before reading its body: a foreign Host, a browser, too large … */
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
    /** A pending call of an agent session got its answer (`tool_result` or `error_event`): the platform took it, or the client has it. */
    z.object({
      kind: z.literal('answered'),
      ...envelope,
      by: z.enum(['platform', 'client']),
      body: z.optional(body),
      /** How the answer differs from the platform's script. */
      unexpected: z.optional(z.array(z.string())),
    }),
    /** A line of the driver protocol: an instruction of a check, or what the driver of a runtime said. */
    z.object({
      kind: z.literal('driver'),
      ...envelope,
      from: z.enum(['check', 'runtime']),
      body: z.optional(body),
      /** How the driver ended, if it ended before it was asked to: `ended with status 1`. */
      ended: z.optional(z.string()),
    }),
    /** An invocation that was not sent, since it is not allowed. */
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
const ownFacts = () =>
  [
    /** A toolset was loaded from discovery: from now on only its operations may be called (RT-OP). */
    z.object({
      kind: z.literal('loaded'),
      ...envelope,
      base: z.nullable(z.string()),
      endpoint: z.string(),
      toolset: z.string(),
      operations: z.array(z.string()),
      /** In old transcripts: the display scripts of its tools by name. */
      displayScripts: z.optional(z.record(z.string(), z.string())),
    }),
    z.object({
      kind: z.literal('decided'),
      ...envelope,
      what: z.enum(['choice', 'consent', 'cancel', 'give-up']),
      by: z.enum(['person', 'flag', 'policy']),
      value: z.optional(z.union([z.string(), z.number()])),
      /** The leg of the question that a choice or a consent answers; default: the oldest open question of that type. */
      question: z.optional(z.string()),
    }),
    /** Something did not happen within this time. */
    z.object({
      kind: z.literal('expired'),
      ...envelope,
      /** `observation`: what a check waited for. */
      what: z.enum(['timeout', 'linger', 'answer', 'observation']),
      afterMs: z.number(),
    }),
    /** The fixture that answers a call, the key, and the number of the call for this key. Null with the nearest fixture if none answers. */
    z.object({
      kind: z.literal('matched'),
      ...envelope,
      fixture: z.nullable(z.string()),
      key: z.optional(z.string()),
      count: z.optional(z.int().check(z.positive())),
      state: z.optional(z.object({ key: z.string(), to: z.string() })),
      nearest: z.optional(nearestSchema),
    }),
    /** What middleware changed in a reply, or would have changed in a reply that was sent verbatim. */
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
      by: z.enum(['fixture', 'fault', 'probe', 'scenario']),
      plan: z.string(),
      /** Ids of the requirements that a probe or a scenario tests. */
      checks: z.optional(z.array(z.string())),
      /** For a scenario that was not run: what it needs and the driver of the runtime does not support. */
      unsupported: z.optional(z.array(z.string())),
      /** For a call of a probe: the index of its case. */
      case: z.optional(z.int().check(z.nonnegative())),
      /** For a call of a probe: repeated with nothing else in progress. */
      again: z.optional(z.literal(true)),
      /** For a call or a probe that is repeated on a new server, after the first one exited. */
      newServer: z.optional(z.literal(true)),
      /** The fixture with this plan, if the call has no `matched` event: a refused acknowledgement. */
      fixture: z.optional(z.string()),
      /** The `type` and turn of the callback concerned. */
      type: z.optional(z.string()),
      turn: z.optional(turnSchema),
    }),
    z.object({ kind: z.literal('warned'), ...envelope, message: z.string() }),
    /** A server that this program started has ended, and was not stopped. `calls` are those without an end yet. */
    z.object({
      kind: z.literal('exited'),
      ...envelope,
      /** `exited with status 1` */
      how: z.string(),
      /** How it ended, and during which operation or after which message: `the server exited with status 1 during …`. */
      message: z.string(),
      /** The last lines that it wrote to stderr. */
      output: z.array(z.string()),
    }),
    /** The new status of an agent session, as the platform set it or the client saw it. `thread` is the id of the session. */
    z.object({
      kind: z.literal('session'),
      ...envelope,
      status: z.string(),
      error: z.optional(z.string()),
      /** The agent's final answer, as JSON. */
      answer: z.optional(z.unknown()),
    }),
    /** The calls that an agent session waits for; the latest list counts (seed 001). */
    z.object({
      kind: z.literal('awaiting'),
      ...envelope,
      round: z.optional(z.int().check(z.nonnegative())),
      pending: z.array(
        z.object({
          /** Identifies the call in every event: its id, or a generated key if the id is null. */
          key: z.string(),
          tool_name: z.string(),
          args: z.optional(z.unknown()),
          id: z.nullable(z.string()),
        }),
      ),
    }),
    /** A planned message that will not be sent, or events that are missing. */
    z.object({
      kind: z.literal('dropped'),
      ...envelope,
      what: z.enum(['callback', 'event', 'invocation']),
      why: z.string(),
      count: z.int().check(z.positive()),
      /** The last attempt, if there was one. */
      leg: z.optional(z.string()),
      /** The message's `type` and turn, if there was no attempt. */
      type: z.optional(z.string()),
      turn: z.optional(turnSchema),
    }),
  ] as const;

export function factSchema<Body extends z.ZodMiniType>(body: Body) {
  return z.discriminatedUnion('kind', [...wireFacts(body), ...ownFacts()]);
}
