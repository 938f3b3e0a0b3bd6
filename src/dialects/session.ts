import * as z from 'zod/mini';
import {
  CUSTOM_TOOLS,
  errorEventSchema,
  sessionResultSchema,
  toolRequestSchema,
} from '../protocol/callbacks.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { excerpt } from '../util/excerpt.js';
import { isRecord } from '../util/json-diagnosis.js';
import type { Answer, AnsweredCall, Dialect, Loss, Reading, Writing } from './dialect.js';
import { checked, lossesOf, otherFields, sentenceOf, words } from './losses.js';

const title = 'a settled call of an agent session';

const carries: Dialect['carries'] = {
  success: 'exact',
  error: 'exact',
  canceled: 'lost',
  timeout: 'lost',
  denied: 'lost',
  unknown: 'lost',
  'error code': 'lost',
  'error type': 'lost',
  'error origin': 'exact',
  text: 'exact',
  JSON: 'exact',
  'no payload': 'exact',
  images: 'lost',
  'other content': 'lost',
  'order of content': 'lost',
  'structured content': 'lost',
  meta: 'lost',
  display: 'lost',
  subscription: 'lost',
  id: 'exact',
  tool: 'exact',
  arguments: 'exact',
  'other request fields': 'exact',
  thread: 'lost',
  'secondary id': 'lost',
  'other fields': 'lost',
};

/** One settled call, as `POST …/tool_results` takes it (seed 001). */
export const sessionDialect: Dialect = { name: 'session', title, carries, read, write };

const KNOWN = { tool_result: ['result'], error_event: ['error', 'origin'] } as const;

/** Of a kind that is not known here, as much as every kind has. */
const unknownKindSchema = z.object({ kind: z.string(), tool_req: z.optional(toolRequestSchema) });

function read(native: unknown): Reading {
  const body = isRecord(native) ? native : {};
  if (body['kind'] === 'tool_result') return readResult(body);
  if (body['kind'] === 'error_event') return readError(body);
  const validation = checked(unknownKindSchema, native);
  if (!validation.ok) return validation;
  const { kind } = validation.value;
  const notes = [`the kind ${excerpt(kind)} is not known here`];
  return reading(body, { type: 'unknown', raw: kind, basis: 'declared' }, KNOWN.tool_result, notes);
}

function readResult(body: Readonly<Record<string, unknown>>): Reading {
  const validation = checked(sessionResultSchema, body);
  if (!validation.ok) return validation;
  return reading(body, { type: 'success', basis: 'declared' }, KNOWN.tool_result);
}

function readError(body: Readonly<Record<string, unknown>>): Reading {
  const validation = checked(errorEventSchema, body);
  if (!validation.ok) return validation;
  const { error: message, origin } = validation.value;
  return reading(body, { type: 'error', message, origin, basis: 'declared' }, KNOWN.error_event);
}

function reading(
  body: Readonly<Record<string, unknown>>,
  outcome: JudgedOutcome,
  known: readonly string[],
  notes: readonly string[] = [],
): Reading {
  const payload = outcome.type === 'error' ? outcome.message : body['result'];
  const others = otherFields(body, ['kind', 'tool_req', ...known]);
  const answer: Answer = {
    call: callOf(body['tool_req']),
    outcome,
    ...(payload !== undefined && { payload }),
    ...(others && { beside: { 'other fields': others } }),
  };
  return { ok: true, dialect: 'session', native: body, answer, text: words(payload) ?? '', notes };
}

/** Of what the schema has seen: it passes over an own `__proto__`, and the echo must be whole. */
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

function write(answer: Answer): Writing {
  const { call, outcome, payload } = answer;
  const losses = [...lossesOf({ title, carries }, answer), ...namelessness(call)];
  const tool_req = call.request ?? requestOf(call);
  if (outcome.type === 'success') {
    const result = payload === undefined ? {} : { result: payload };
    return { body: { kind: 'tool_result', tool_req, ...result }, losses };
  }
  const origin = (outcome.type === 'error' ? outcome.origin : undefined) ?? CUSTOM_TOOLS;
  return { body: { kind: 'error_event', error: sentenceOf(answer), origin, tool_req }, losses };
}

function requestOf({ id, tool = '', args }: AnsweredCall): object {
  return { tool_name: tool, ...(args && { args }), id };
}

/** A `tool_req` must have a name; a platform tells by it what was answered. */
function namelessness({ tool, request }: AnsweredCall): Loss[] {
  if (tool !== undefined || request !== undefined) return [];
  return [{ feature: 'tool', message: `${title} has an empty tool_name: the name of the tool is not known` }];
}
