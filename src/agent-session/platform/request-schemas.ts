import * as z from 'zod/mini';
import { SESSION_STATUSES, sessionResultSchema } from '../../protocol/session.js';
import { LIMITS } from '../../util/limits.js';

/**
 * Requests as the platform's document limits them, and as lenient as its page reads without the document. Items of lists are validated
 * one by one: zod cannot return the errors of very many.
 */

const list = z.nullish(z.array(z.unknown()));

const json = z.record(z.string(), z.unknown());

const integer = z.pipe(
  z.string().check(z.regex(/^-?\d{1,15}$/)),
  z.transform(text => Number(text)),
);

const intFrom = (min: number, max: number) => z.pipe(integer, z.int().check(z.minimum(min), z.maximum(max)));

const anyNumber = z.coerce.number().check(z.minimum(0));

const changesQuery = (wait: z.ZodMiniType<number>) =>
  z.object({
    from_index: z._default(integer, 0),
    limit: z.optional(intFrom(0, Number.MAX_SAFE_INTEGER)),
    include_events: z._default(z.stringbool(), true),
    wait_for_seconds: z._default(wait, 0),
  });

const time = z.optional(z.iso.datetime({ offset: true, local: true }));

const OWNERS = ['me', 'me-in-organization', 'organization', 'me-or-organization'] as const;

const sortBy = (field: string) => z.optional(z.array(z.enum([field, `-${field}`])));

/** The filters of the list of sessions; pages are apart. */
export const sessionFilters = z.object({
  owner: z.optional(z.enum(OWNERS)),
  status: z.optional(z.array(z.enum(SESSION_STATUSES))),
  agent: z.optional(z.array(z.string())),
  group_id: z.optional(z.string()),
  parent_session_id: z.optional(z.string()),
  schedule_id: z.optional(z.uuid()),
  search: z.optional(z.string()),
  created_before: time,
  created_after: time,
  finished_before: time,
  finished_after: time,
  sort: sortBy('created_at'),
});

export const eventFilters = z.object({ sort: sortBy('timestamp'), type: z.optional(z.string()) });

/** @param size default and maximum size of a page */
export const pageQuery = (size: number, max: number) =>
  z.object({
    page: z._default(intFrom(1, Number.MAX_SAFE_INTEGER), 1),
    size: z._default(intFrom(1, max), size),
  });

const fileSchema = z.object({
  type: z._default(z.enum(['base64', 'url']), 'base64'),
  source: z.string(),
  name: z.string(),
  media_type: z.nullish(z.string()),
});

const filesSchema = z.array(fileSchema).check(
  z.maxLength(10),
  z.refine(
    files =>
      files.reduce((sum, { source }) => sum + (source.length * 3) / 4, 0) <= LIMITS.attachedBytes.value,
    'must have at most 7 MB in all',
  ),
);

export const messageSchema = z.object({
  type: z._default(z.literal('user_message'), 'user_message'),
  message: z.string(),
  images: z.optional(z.array(z.string())),
  files: z.optional(filesSchema),
  skills: z.optional(z.array(json)),
  caller_id: z.optional(z.string()),
});

const least = (min: number) => z.nullish(z.int().check(z.minimum(min)));

const text = z.nullish(z.string());

const requestFields = {
  messages: z.nullish(z.union([z.string(), json, z.array(z.unknown())])),
  overrides: z.nullish(json),
  max_steps: least(1),
  max_time_s: z.nullish(z.number().check(z.positive())),
  idle_timeout_s: least(1),
  delete_after_min: least(1),
  delete_screenshot_after_min: least(1),
  queue: z.nullish(z.boolean()),
  group_id: text,
  parent_session_id: text,
  timezone: text,
};

const nonEmpty = z.string().check(z.minLength(1));

const agentSchema = z.object({
  name: nonEmpty.check(z.maxLength(127)),
  description: nonEmpty,
  environments: z.array(z.unknown()),
  model: text,
  instructions: text,
  subagents: list,
  skills: list,
  answer_format: z.nullish(json),
  tools: list,
});

const toolSchema = z.object({
  name: z
    .string()
    .check(z.maxLength(64), z.regex(/^[A-Za-z_]\w*$/, 'must be letters, digits and underscores')),
  description: nonEmpty,
  input_schema: z.optional(json),
});

const batchType = z._default(z.literal('batch'), 'batch');

const DOCUMENTED = {
  changes: changesQuery(intFrom(0, 25)),
  creation: z.object({ agent: z.union([z.string(), agentSchema]), ...requestFields }),
  tool: toolSchema,
  messages: z.strictObject({ type: batchType, messages: z.array(z.unknown()).check(z.minLength(1)) }),
  result: z.extend(sessionResultSchema, {
    truncated: z.optional(z.boolean()),
    output_artifact_path: text,
  }),
  results: z.strictObject({ type: batchType, results: z.array(z.unknown()).check(z.minLength(1)) }),
};

const LENIENT = {
  changes: changesQuery(anyNumber),
  creation: z.object({
    ...requestFields,
    agent: z.optional(z.union([z.string(), z.object({ tools: list })])),
  }),
  tool: z.object({ name: z.string(), description: z.optional(z.string()), input_schema: z.optional(json) }),
  messages: z.object({ type: batchType, messages: z.array(z.unknown()) }),
  result: sessionResultSchema,
  results: z.object({ type: batchType, results: z.array(z.unknown()) }),
};

/** By the script's switch `requests`. */
export const SCHEMAS = { documented: DOCUMENTED, lenient: LENIENT };

const webhookUrl = z.string().check(z.minLength(1), z.maxLength(2048));

const webhookDescription = z.nullish(z.string().check(z.maxLength(255)));

export const webhookSchema = z.object({
  url: webhookUrl,
  enabled_events: z._default(z.array(z.string()), ['*']),
  description: webhookDescription,
});

export const webhookChanges = z.object({
  url: z.nullish(webhookUrl),
  enabled_events: z.nullish(z.array(z.string())),
  description: webhookDescription,
  disabled: z.nullish(z.boolean()),
});

export const webhookFilters = z.object({ sort: sortBy('created_at') });

export const feedbackSchema = z.object({ success: z.boolean(), message: text });

export const keySchema = z.optional(z.string().check(z.minLength(1), z.maxLength(255)));
