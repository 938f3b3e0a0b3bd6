import * as z from 'zod/mini';

const NAME_LENGTH = 128;

export const annotationsSchema = z.looseObject({
  requiresAuth: z.optional(z.string()),
  readOnly: z.optional(z.boolean()),
  destructive: z.optional(z.boolean()),
  idempotent: z.optional(z.boolean()),
  longRunning: z.optional(z.boolean()),
});

export const toolSchema = z.object({
  name: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(NAME_LENGTH),
      z.regex(/^[\p{L}\p{M}\p{N}_-]*$/u, 'may hold only letters, digits, _ and -'),
    ),
  description: z.string(),
  /** A JSON Schema object; draft 2020-12 unless `$schema` names another. */
  inputSchema: z.record(z.string(), z.unknown()),
  /** Of an MCP tool, the JSON Schema of its `structuredContent`. RAP does not have it, so that it is not checked. */
  outputSchema: z.optional(z.unknown()),
  annotations: z.optional(annotationsSchema),
  displayScript: z.optional(z.string()),
});

/** The fields of a toolset except its endpoint. */
export const toolsetFields = {
  name: z.string().check(z.minLength(1), z.maxLength(NAME_LENGTH)),
  description: z.optional(z.string()),
  tools: z.array(toolSchema).check(z.minLength(1)),
  needsMigration: z._default(z.boolean(), false),
};

/** What discovery gives: `GET {base}/.well-known/rap-toolset` (TOOL-DISCOVER, TOOL-NAMES). */
export const toolsetSchema = z.object({
  ...toolsetFields,
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
});

export type Tool = z.infer<typeof toolSchema>;

export type Toolset = z.infer<typeof toolsetSchema>;

/** Characters of a display script that is kept with the events, and of all of a toolset. */
const MOST_SCRIPT = { each: 4_096, all: 65_536 };

/** The display scripts of tools by name, as events keep them. */
export function displayScriptsOf(tools: readonly Tool[]): {
  readonly displayScripts?: Record<string, string>;
} {
  let left = MOST_SCRIPT.all;
  const kept = tools.flatMap(({ name, displayScript: script }) => {
    if (script === undefined || script.length > Math.min(MOST_SCRIPT.each, left)) return [];
    left -= script.length;
    return [[name, script]];
  });
  return kept.length > 0 ? { displayScripts: Object.fromEntries(kept) } : {};
}

/** Where things are, relative to a tool server's base URL (protocol, section 1). */
const DISCOVERY_PATH = '/.well-known/rap-toolset';

/** The discovery URLs to ask, in order, each with the base it stands for: the URL as given, then its origin. */
export function discoveryCandidates(url: string): { readonly base: string; readonly url: string }[] {
  const bases = new Set([baseOf(url), new URL(url).origin]);
  return [...bases].map(base => ({ base, url: discoveryUrl(base) }));
}

export const discoveryUrl = (base: string) => base + DISCOVERY_PATH;

/** A URL as a base: without a query, and without a slash at its end. */
export function baseOf(text: string): string {
  const url = new URL(text);
  return url.origin + url.pathname.replace(/\/+$/, '');
}
