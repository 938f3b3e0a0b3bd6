import * as z from 'zod/mini';
import { webUrlSchema } from './web-url.js';

const NAME_LENGTH = 128;

const annotationsSchema = z.looseObject({
  requiresAuth: z.optional(z.string()),
  readOnly: z.optional(z.boolean()),
  destructive: z.optional(z.boolean()),
  idempotent: z.optional(z.boolean()),
  longRunning: z.optional(z.boolean()),
});

export const ANNOTATIONS: readonly string[] = Object.keys(annotationsSchema.shape);

/** Whether a name is an annotation of the protocol or a custom one; any other name is probably a typo. */
export function isAnnotation(name: string): boolean {
  return ANNOTATIONS.includes(name) || name.startsWith('x-');
}

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
  /** For an MCP tool, the JSON Schema of its `structuredContent`; not validated, since RAP does not have it. */
  outputSchema: z.optional(z.unknown()),
  annotations: z.optional(annotationsSchema),
  displayScript: z.optional(z.string()),
});

/**
 * A zod schema of the response of discovery: `GET {base}/.well-known/rap-toolset` (TOOL-DISCOVER, TOOL-NAMES). As JSON Schema:
 * `protocol-cli/toolset.schema.json`.
 * @example
 * const toolset = toolsetSchema.parse({ name: 'editor', tools: [], endpoint: 'http://127.0.0.1:3001/rap' });
 */
export const toolsetSchema = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(NAME_LENGTH)),
  description: z.optional(z.string()),
  tools: z.array(toolSchema).check(z.minLength(1)),
  needsMigration: z._default(z.boolean(), false),
  endpoint: webUrlSchema,
});

/**
 * The operations of a tool server.
 * @example
 * const names = ({ tools }: Toolset) => tools.map(({ name }) => name);
 */
export type Toolset = z.infer<typeof toolsetSchema>;

/** One operation: its name, description and JSON Schema. */
export type Tool = Toolset['tools'][number];

/** Relative to a tool server's base URL (protocol, section 1). */
export const DISCOVERY_PATH = '/.well-known/rap-toolset';

/** The discovery URLs to try, in order, each with its base URL: the given URL, then its origin. */
export function discoveryCandidates(url: string): { readonly base: string; readonly url: string }[] {
  const bases = new Set([baseOf(url), new URL(url).origin]);
  return [...bases].map(base => ({ base, url: discoveryUrl(base) }));
}

export const discoveryUrl = (base: string) => base + DISCOVERY_PATH;

/** A URL without a query and without a trailing slash. */
export function baseOf(text: string): string {
  const url = new URL(text);
  return url.origin + url.pathname.replace(/\/+$/, '');
}
