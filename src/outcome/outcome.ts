import * as z from 'zod';

/** How a tool call ended: one union for every system that hands an outcome back (seed 002, platforms "One model"). */
export const outcomeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('success') }),
  z.object({
    type: z.literal('error'),
    message: z.string(),
    code: z.string().optional(),
    errorType: z.string().optional(),
    origin: z.string().optional(),
  }),
  z.object({ type: z.literal('canceled'), reason: z.string().optional(), by: z.string().optional() }),
  z.object({ type: z.literal('timeout'), durationMs: z.number().optional() }),
  z.object({ type: z.literal('denied'), tool: z.string().optional(), reason: z.string().optional() }),
  z.object({ type: z.literal('unknown'), raw: z.unknown() }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;

/**
 * Where an outcome is known from: the wire says it (`declared`), a text follows a convention, we made it ourselves
 * (a timeout, a refused acknowledgement), or nothing speaks against success (`assumed`).
 */
export type Basis = 'declared' | 'convention' | 'ours' | 'assumed';

export type JudgedOutcome = Outcome & { readonly basis: Basis };
