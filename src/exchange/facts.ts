import * as z from 'zod/mini';

/*
 * The facts an exchange is made of. Nothing that follows from them (acknowledged, matched, late, the outcome) is a fact:
 * that is what `step` is for. A new kind of fact is one schema and one line in `factSchema`.
 */

const PARTIES = ['runtime', 'tool', 'unknown'] as const;
const PURPOSES = ['discovery', 'invocation', 'callback', 'choice', 'cancel', 'close', 'migrate'] as const;

/** What every event carries: its place, its time in monotonic ms since the start, and which calls it concerns. */
const envelope = {
  seq: z.int().check(z.nonnegative()),
  at: z.number().check(z.nonnegative()),
  /** Keys of the calls concerned; a callback belongs to the call whose callback URL it used. */
  calls: z.optional(z.array(z.string())),
  /** The thread (`group_id`) concerned, where it is known. */
  thread: z.optional(z.string()),
};

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
      method: z.string(),
      url: z.string(),
      headers: headersSchema,
      body: z.optional(body),
      /** 1 for the first try. */
      attempt: z.int().check(z.positive()),
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
  ] as const;
}

/** Facts about what was known, decided, or waited for in vain. */
const ownFacts = [
  /** A toolset was loaded from discovery: what may be dispatched from now on (RT-OP). */
  z.object({
    kind: z.literal('loaded'),
    ...envelope,
    base: z.nullable(z.string()),
    endpoint: z.string(),
    toolset: z.string(),
    operations: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('decided'),
    ...envelope,
    what: z.enum(['choice', 'cancel', 'give-up']),
    by: z.enum(['person', 'flag', 'policy']),
    value: z.optional(z.union([z.string(), z.number()])),
  }),
  /** Absence is a fact, with its window. */
  z.object({
    kind: z.literal('expired'),
    ...envelope,
    what: z.enum(['timeout', 'linger']),
    afterMs: z.number(),
  }),
] as const;

/** One event, with `body` as the stand-in for message bytes. */
export function factSchema<Body extends z.ZodMiniType>(body: Body) {
  return z.discriminatedUnion('kind', [...wireFacts(body), ...ownFacts]);
}
