import { payloadOfOutcome } from '../../outcome/conventions.js';
import { resultTypeOf, toolCallResultSchema } from '../../protocol/lmkit/tool-call-result.js';
import { compactJson } from '../../text/compact-json.js';
import { parseJson } from '../../text/json.js';
import { checked, otherFields } from '../checked.js';
import type { Answer, Dialect, Feature, Loss, Reading, Writing } from '../dialect.js';
import { lossesOf, lossOf } from '../losses.js';
import { sentenceOf } from '../sentence.js';
import { readPayload } from './payload.js';

const title = 'a ToolCallResult of LM-Kit';

const carries: Dialect['carries'] = {
  success: 'exact',
  error: 'exact',
  canceled: 'exact',
  timeout: 'exact',
  denied: 'exact',
  unknown: 'exact',
  'error code': 'exact',
  'error type': 'exact',
  'error origin': 'lost',
  text: 'exact',
  JSON: 'exact',
  'no payload': 'lost',
  images: 'lost',
  'other content': 'lost',
  'order of content': 'lost',
  'structured content': 'lost',
  meta: 'lost',
  display: 'lost',
  subscription: 'lost',
  id: 'exact',
  tool: 'exact',
  arguments: 'lost',
  'other request fields': 'lost',
  thread: 'lost',
  'secondary id': 'lost',
  'other fields': 'lost',
};

/** `{Type, ResultJson, ToolCallId, ToolName}` (seed 002): types are read by name or number, and written by name. */
export const lmkitDialect: Dialect = { name: 'lmkit', title, carries, read, write };

const KNOWN = ['Type', 'ResultJson', 'ToolCallId', 'ToolName'];

function read(native: unknown): Reading {
  const validation = checked(toolCallResultSchema, native);
  if (!validation.ok) return validation;
  const { Type, ResultJson, ToolCallId, ToolName } = validation.value;
  const type = resultTypeOf(Type);
  const { outcome, payload, notes, rest } = readPayload(ResultJson, type, Type);
  const others = otherFields(native, KNOWN);
  const left = rest === undefined ? others : { ...others, ResultJson: rest };
  const answer: Answer = {
    call: { id: ToolCallId ?? null, ...(typeof ToolName === 'string' && { tool: ToolName }) },
    outcome,
    payload,
    ...(left && { beside: { 'other fields': left } }),
  };
  const unknown = type === null ? ['the Type is not known here'] : [];
  return { ok: true, dialect: 'lmkit', native, answer, text: ResultJson, notes: [...unknown, ...notes] };
}

function write(answer: Answer): Writing {
  const { call } = answer;
  const { Type, ResultJson, losses } = typed(answer);
  const body = { Type, ResultJson, ToolCallId: call.id, ToolName: call.tool ?? null };
  return { body, losses: [...lossesOf({ title, carries }, answer), ...losses] };
}

interface Typed {
  readonly Type: string | number;
  readonly ResultJson: string;
  readonly losses: readonly Loss[];
}

function typed(answer: Answer): Typed {
  const { outcome, payload } = answer;
  if (outcome.type === 'success') return withPayload('Success', payload);
  if (outcome.type !== 'unknown') return documented(answer, NAMES[outcome.type]);
  if (isOwnType(outcome.raw)) return withPayload(outcome.raw, payload);
  return { ...documented({ outcome: asError(answer) }, 'Error'), losses: [loss('unknown', [outcome.raw])] };
}

const NAMES = { error: 'Error', canceled: 'Canceled', timeout: 'Timeout', denied: 'Denied' } as const;

/** A text that is JSON goes out as that JSON: tools have no other way to return structured data. */
function withPayload(Type: string | number, payload: unknown): Typed {
  if (typeof payload === 'string' && parseJson(payload).ok) return { Type, ResultJson: payload, losses: [] };
  const json = payload === undefined ? 'null' : compactJson(payload);
  return { Type, ResultJson: json ?? 'null', losses: json === null ? [loss('JSON', payload)] : [] };
}

function documented({ outcome }: Pick<Answer, 'outcome'>, Type: string): Typed {
  return { Type, ResultJson: compactJson(payloadOfOutcome(outcome)) ?? 'null', losses: [] };
}

/** A type of a later version; what another wire does not know may have the name of one that is known here. */
function isOwnType(raw: unknown): raw is string | number {
  const isType = typeof raw === 'string' || (typeof raw === 'number' && Number.isFinite(raw));
  return isType && resultTypeOf(raw) === null;
}

function asError(answer: Answer): Answer['outcome'] {
  return { type: 'error', message: sentenceOf(answer), basis: answer.outcome.basis };
}

const loss = (feature: Feature, value: unknown) => lossOf({ title }, feature, value);
