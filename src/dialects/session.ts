import * as z from 'zod/mini';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { errorEventSchema, sessionResultSchema } from '../protocol/session.js';
import { excerpt } from '../util/text.js';
import { isRecord } from '../util/values.js';
import {
  type Answer,
  type AnsweredCall,
  type Dialect,
  type Feature,
  otherFields,
  outcomeSentence,
  payloadText,
  type Reading,
  unsupported,
  validateNative,
  type WriteWarning,
  type Writing,
  withResourceTexts,
} from './dialect.js';

/** The `origin` of an error from a custom tool (seed 001's example). */
const CUSTOM_TOOLS = 'custom_tools';

const TITLE = 'a settled call of an agent session';

const SUPPORTED: ReadonlySet<Feature> = new Set([
  ...(['success', 'error', 'error origin', 'JSON', 'no payload'] as const),
  ...(['id', 'tool', 'arguments', 'other request fields'] as const),
]);

/** One item of `POST …/tool_results` (seed 001). */
export const sessionDialect: Dialect = { name: 'session', title: TITLE, read, write };

/** The fields of every kind, including later ones. */
const anyKindSchema = z.object({
  kind: z.string(),
  tool_req: z.optional(sessionResultSchema.shape.tool_req),
});

function read(native: unknown): Reading {
  const body = isRecord(native) ? native : {};
  if (body['kind'] === 'tool_result') {
    const validation = validateNative(sessionResultSchema, body);
    return validation.ok ? reading(body, { type: 'success', basis: 'declared' }) : validation;
  }
  if (body['kind'] === 'error_event') {
    const validation = validateNative(errorEventSchema, body);
    if (!validation.ok) return validation;
    const { error: message, origin } = validation.value;
    return reading(body, { type: 'error', message, origin, basis: 'declared' });
  }
  const validation = validateNative(anyKindSchema, native);
  if (!validation.ok) return validation;
  const { kind } = validation.value;
  const notes = [`unknown kind ${excerpt(kind)}`];
  return reading(body, { type: 'unknown', raw: kind, basis: 'declared' }, notes);
}

function reading(
  native: Readonly<Record<string, unknown>>,
  outcome: JudgedOutcome,
  notes: readonly string[] = [],
): Reading {
  const isError = outcome.type === 'error';
  const payload = isError ? outcome.message : native['result'];
  const answer: Answer = {
    call: callOf(native['tool_req']),
    outcome,
    ...(payload !== undefined && { payload }),
    beside: otherFields(native, ['kind', 'tool_req', ...(isError ? ['error', 'origin'] : ['result'])]),
  };
  return { ok: true, dialect: 'session', native, answer, text: payloadText(payload) ?? '', notes };
}

/** The request as received: the answer repeats it whole, including fields that the schema ignores. */
function callOf(request: unknown): AnsweredCall {
  if (!isRecord(request)) return { id: null };
  const { tool_name: tool, args, id } = request;
  return {
    id: typeof id === 'string' ? id : null,
    ...(typeof tool === 'string' && { tool }),
    ...(isRecord(args) && { args }),
    request,
  };
}

function write(given: Answer): Writing {
  const answer = withResourceTexts(given);
  const { call, outcome, payload } = answer;
  const { id, tool = '', args } = call;
  const tool_req = call.request ?? { tool_name: tool, ...(args && { args }), id };
  const isNameless = call.tool === undefined && call.request === undefined;
  const unnamed: WriteWarning = {
    feature: 'tool',
    message: `${TITLE} has an empty tool_name: the name of the tool is not known`,
  };
  const warnings = [...unsupported(TITLE, SUPPORTED, answer), ...(isNameless ? [unnamed] : [])];
  if (outcome.type === 'success') {
    const result = payload === undefined ? {} : { result: payload };
    return { body: { kind: 'tool_result', tool_req, ...result }, warnings };
  }
  const origin = (outcome.type === 'error' ? outcome.origin : undefined) ?? CUSTOM_TOOLS;
  return { body: { kind: 'error_event', error: outcomeSentence(answer), origin, tool_req }, warnings };
}
