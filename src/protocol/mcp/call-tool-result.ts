import * as z from 'zod/mini';

/** A content block; its type is open, so that one of a later version of MCP is kept. */
const contentBlockSchema = z.looseObject({ type: z.string() }).check(({ value, issues }) => {
  for (const key of NEEDED[value.type] ?? [])
    if (typeof value[key] !== 'string')
      issues.push({ code: 'custom', input: value, path: [key], message: 'must be a string' });
});

/** What a block of a known type holds. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
};

/** What MCP's `tools/call` gives. Where `isError` is left out, success is assumed. */
export const callToolResultSchema = z.object({
  content: z.optional(z.array(contentBlockSchema)),
  isError: z.optional(z.boolean()),
  structuredContent: z.optional(z.unknown()),
  _meta: z.optional(z.record(z.string(), z.unknown())),
});
