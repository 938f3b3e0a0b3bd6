import * as z from 'zod/mini';
import { type JudgedOutcome, type Outcome, outcomeOfPayload, payloadOfOutcome } from '../protocol/outcome.js';
import { parseJson } from '../util/json.js';
import { compactJson, isRecord } from '../util/values.js';
import {
  type Answer,
  type Dialect,
  type Feature,
  otherFields,
  outcomeSentence,
  type Reading,
  unsupported,
  validateNative,
  type Writing,
  warnOf,
} from './dialect.js';

/** The members of LM-Kit's `ToolCallResultType`, each at its number (seed 002). The enumeration is open. */
const RESULT_TYPES = ['Success', 'Error', 'Canceled', 'Timeout', 'Denied'] as const;

type ResultType = (typeof RESULT_TYPES)[number];

/** What LM-Kit knows of a call that came to its end; `ResultJson` is a JSON text (seed 002). */
const toolCallResultSchema = z.object({
  Type: z.union([z.string(), z.number()], { error: 'must be a name or a number' }),
  ResultJson: z.string(),
  ToolCallId: z.nullish(z.string()),
  ToolName: z.nullish(z.string()),
});

/** The member that is meant, by its name in any case, or by its number; null for one of another version. */
function resultTypeOf(type: string | number): ResultType | null {
  if (typeof type === 'number') return RESULT_TYPES[type] ?? null;
  return RESULT_TYPES.find(each => each.toLowerCase() === type.toLowerCase()) ?? null;
}

const TITLE = 'a ToolCallResult of LM-Kit';

const SUPPORTED: ReadonlySet<Feature> = new Set([
  ...(['success', 'error', 'canceled', 'timeout', 'denied', 'unknown'] as const),
  ...(['error code', 'error type', 'JSON', 'id', 'tool'] as const),
]);

const FIELDS = ['Type', 'ResultJson', 'ToolCallId', 'ToolName'];

type FailureType = Exclude<Outcome['type'], 'success' | 'unknown'>;

/** The name of each outcome, and the documented members of its payload (seed 002). */
const FAILURES = {
  error: { name: 'Error', members: ['message', 'code', 'type'] },
  canceled: { name: 'Canceled', members: ['reason', 'by'] },
  timeout: { name: 'Timeout', members: ['durationMs'] },
  denied: { name: 'Denied', members: ['tool', 'reason'] },
} as const satisfies Record<FailureType, { name: ResultType; members: readonly string[] }>;

const BY_NAME = new Map<ResultType, FailureType>(
  (['error', 'canceled', 'timeout', 'denied'] as const).map(type => [FAILURES[type].name, type]),
);

/** `{Type, ResultJson, ToolCallId, ToolName}` (seed 002): types are read by name or number, and written by name. */
export const lmkitDialect: Dialect = { name: 'lmkit', title: TITLE, read, write };

function read(native: unknown): Reading {
  const validation = validateNative(toolCallResultSchema, native);
  if (!validation.ok) return validation;
  const { Type, ResultJson, ToolCallId, ToolName } = validation.value;
  const type = resultTypeOf(Type);
  const json = parseJson(ResultJson);
  const payload = json.ok ? json.value : ResultJson;
  const { outcome, rest, note } = outcomeIn(type, Type, payload, ResultJson);
  const others = { ...otherFields(native, FIELDS), ...(rest !== undefined && { ResultJson: rest }) };
  const answer: Answer = {
    call: { id: ToolCallId ?? null, ...(typeof ToolName === 'string' && { tool: ToolName }) },
    outcome,
    payload,
    ...(Object.keys(others).length > 0 && { beside: { 'other fields': others } }),
  };
  const notes = [
    ...(type === null ? ['unknown Type'] : []),
    ...(json.ok ? json.notes : [`ResultJson is not valid JSON, and is read as a text: ${json.reason}`]),
    ...(note === undefined ? [] : [note]),
  ];
  return { ok: true, dialect: 'lmkit', native, answer, text: ResultJson, notes };
}

interface OutcomeReading {
  readonly outcome: JudgedOutcome;
  /** What the outcome has no place for. */
  readonly rest?: string;
  readonly note?: string;
}

function outcomeIn(type: ResultType | null, raw: unknown, payload: unknown, source: string): OutcomeReading {
  const basis = 'declared';
  if (type === null) return { outcome: { type: 'unknown', raw, basis } };
  const kind = BY_NAME.get(type);
  if (!kind) return { outcome: { type: 'success', basis } };
  const documented = documentedOutcome(kind, payload);
  if (documented) return documented;
  const note = `ResultJson is not what is documented for ${type}`;
  const text = typeof payload === 'string' ? payload : source;
  if (kind === 'error') return { outcome: { type: kind, message: text, basis }, note };
  if (kind === 'timeout') return { outcome: { type: kind, basis }, rest: text, note };
  return { outcome: { type: kind, reason: text, basis }, note };
}

/** The type is declared, so members that are null count as absent, and unknown ones are kept. Null for another payload. */
function documentedOutcome(kind: FailureType, payload: unknown): OutcomeReading | null {
  const inner = isRecord(payload) ? payload[kind] : undefined;
  if (!isRecord(payload) || !isRecord(inner)) return null;
  const members: readonly string[] = FAILURES[kind].members;
  const given = Object.entries(inner).filter(([, value]) => value !== null);
  const known = given.filter(([name]) => members.includes(name));
  const outcome = outcomeOfPayload({ [kind]: Object.fromEntries(known) });
  if (outcome === null) return null;
  const others = Object.fromEntries(given.filter(([name]) => !members.includes(name)));
  const { [kind]: _, ...beside } = payload;
  const rest = { ...beside, ...(Object.keys(others).length > 0 && { [kind]: others }) };
  const left = Object.keys(rest).length > 0 ? compactJson(rest) : null;
  return { outcome: { ...outcome, basis: 'declared' }, ...(left !== null && { rest: left }) };
}

function write(answer: Answer): Writing {
  const { call, outcome, payload } = answer;
  const warnings = unsupported(TITLE, SUPPORTED, answer);
  const written = (Type: string | number, ResultJson: string) => ({
    body: { Type, ResultJson, ToolCallId: call.id, ToolName: call.tool ?? null },
    warnings,
  });
  const type = outcome.type === 'success' ? 'Success' : otherTypeIn(outcome);
  if (type !== null) {
    const json = payloadJson(payload);
    if (json === null) warnings.push(warnOf(TITLE, 'JSON', payload));
    return written(type, json ?? 'null');
  }
  if (outcome.type !== 'unknown' && outcome.type !== 'success')
    return written(FAILURES[outcome.type].name, outcomeJson(outcome));
  if (outcome.type === 'unknown') warnings.push(warnOf(TITLE, 'unknown', [outcome.raw]));
  return written('Error', outcomeJson({ type: 'error', message: outcomeSentence(answer) }));
}

/** A text that is JSON is written as that JSON: tools have no other way to return structured data. */
function payloadJson(payload: unknown): string | null {
  if (typeof payload === 'string' && parseJson(payload).ok) return payload;
  return payload === undefined ? 'null' : compactJson(payload);
}

function outcomeJson(outcome: Outcome): string {
  return compactJson(payloadOfOutcome(outcome)) ?? 'null';
}

/** A type of a later version; an unknown outcome of another format may have the name of a known type. */
function otherTypeIn(outcome: Outcome): string | number | null {
  const raw = outcome.type === 'unknown' ? outcome.raw : null;
  const isType = typeof raw === 'string' || (typeof raw === 'number' && Number.isFinite(raw));
  return isType && resultTypeOf(raw) === null ? raw : null;
}
