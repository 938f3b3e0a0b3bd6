import * as z from 'zod/mini';

/** How a tool call ended: one union for every system that hands an outcome back (seed 002, platforms "One model"). */
export const outcomeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('success') }),
  z.object({
    type: z.literal('error'),
    message: z.string(),
    code: z.optional(z.string()),
    errorType: z.optional(z.string()),
    origin: z.optional(z.string()),
  }),
  z.object({ type: z.literal('canceled'), reason: z.optional(z.string()), by: z.optional(z.string()) }),
  z.object({ type: z.literal('timeout'), durationMs: z.optional(z.number()) }),
  z.object({ type: z.literal('denied'), tool: z.optional(z.string()), reason: z.optional(z.string()) }),
  z.object({ type: z.literal('unknown'), raw: z.unknown() }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;

/**
 * Where an outcome is known from: the wire says it (`declared`), a text follows a convention, we made it ourselves
 * (a timeout, a refused acknowledgement), or nothing speaks against success (`assumed`).
 */
export type Basis = 'declared' | 'convention' | 'ours' | 'assumed';

export type JudgedOutcome = Outcome & { readonly basis: Basis };
