import * as z from 'zod/mini';
import { ANNOTATIONS, isAnnotation, type Tool } from '../protocol/toolset.js';
import { didYouMean } from '../util/text.js';

/** A typo would disable its rule. */
const annotationName = z.string().check(
  z.refine(isAnnotation, {
    error: ({ input }) =>
      `is not an annotation (${ANNOTATIONS.join(', ')}, or x-vendor-key). ${didYouMean(String(input), ANNOTATIONS)}`.trim(),
  }),
);

const namePattern = z.string().check(z.minLength(1));

/** A name or a wildcard, optionally with an annotation; then both must match. */
const ruleSchema = z.union([
  namePattern,
  z
    .strictObject({
      name: z.optional(namePattern),
      annotation: z.optional(annotationName),
      reason: z.optional(z.string()),
    })
    .check(
      z.refine(({ name, annotation }) => name !== undefined || annotation !== undefined, {
        error: 'needs a name or an annotation',
      }),
    ),
]);

/** Which tools may be called: deny first, then allow, then the default (seed 002, "ToolPermissionPolicy"). */
export const policySchema = z.strictObject({
  version: z.literal(1),
  deny: z.optional(z.array(ruleSchema)),
  allow: z.optional(z.array(ruleSchema)),
  /** Default if omitted: `deny` if there is an allow list, otherwise `allow`. */
  default: z.optional(z.enum(['allow', 'deny'])),
});

export type Policy = z.infer<typeof policySchema>;

type Rule = z.infer<typeof ruleSchema>;

export type ToolInfo = Pick<Tool, 'name' | 'annotations'>;

/** `isNamed`: a rule allows this tool by its full name, not by a wildcard, an annotation or the default. */
type Decision =
  | { readonly allowed: true; readonly isNamed: boolean }
  | { readonly allowed: false; readonly reason: string };

/** Returns the policy's decision about a tool; without a policy every tool is allowed. */
export function decide(policy: Policy | null, tool: ToolInfo): Decision {
  const { deny = [], allow, default: preset } = policy ?? {};
  const denied = deny.find(rule => matches(rule, tool));
  if (denied !== undefined) return { allowed: false, reason: reasonOf(denied) };
  const allowing = allow?.filter(rule => matches(rule, tool)) ?? [];
  if (allowing.length > 0)
    return { allowed: true, isNamed: allowing.some(rule => partsOf(rule).name === tool.name) };
  if ((preset ?? (allow ? 'deny' : 'allow')) === 'allow') return { allowed: true, isNamed: false };
  return { allowed: false, reason: 'the policy does not allow this tool' };
}

export function usesAnnotations({ deny = [], allow = [] }: Policy): boolean {
  return [...deny, ...allow].some(rule => partsOf(rule).annotation !== undefined);
}

function partsOf(rule: Rule): Exclude<Rule, string> {
  return typeof rule === 'string' ? { name: rule } : rule;
}

function matches(rule: Rule, { name, annotations = {} }: ToolInfo): boolean {
  const wanted = partsOf(rule);
  if (wanted.name !== undefined && !matchesWildcard(wanted.name, name)) return false;
  if (wanted.annotation === undefined) return true;
  const entries = new Map<string, unknown>(Object.entries(annotations));
  return ![undefined, null, false, ''].includes(entries.get(wanted.annotation) as undefined);
}

/** `*` matches any characters. Runs in time proportional to both texts, for any number of wildcards. */
function matchesWildcard(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

function reasonOf(rule: Rule): string {
  const { name, annotation, reason } = partsOf(rule);
  if (reason !== undefined) return reason;
  if (annotation === undefined) return `the policy denies ${name}`;
  return `the policy denies ${name ?? 'tools'} annotated ${annotation}`;
}
