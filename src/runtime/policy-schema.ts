import * as z from 'zod/mini';
import { didYouMean } from '../util/nearest.js';

const namePattern = z.string().check(z.minLength(1));

/** What a tool may say of itself; a key of somebody's own is namespaced. A misspelt one would disarm its rule. */
const ANNOTATIONS = ['readOnly', 'destructive', 'idempotent', 'longRunning', 'requiresAuth'];
const annotationName = z.string().check(
  z.refine(name => ANNOTATIONS.includes(name) || name.startsWith('x-'), {
    error: ({ input }) =>
      `is no annotation (${ANNOTATIONS.join(', ')}, or x-vendor-key). ${didYouMean(String(input), ANNOTATIONS)}`.trim(),
  }),
);

/** A name or a wildcard; or, where both are given, both must hold. */
export const ruleSchema = z.union([
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
  /** Left out, what no rule names is denied where there is an allow list, and allowed where there is none. */
  default: z.optional(z.enum(['allow', 'deny'])),
});
