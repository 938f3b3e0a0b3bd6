import * as z from 'zod/mini';
import { type JudgedOutcome, type Outcome, outcomeOfPayload, payloadOfOutcome } from '../protocol/outcome.js';
import { parseJson } from '../util/json.js';
import { excerpt } from '../util/text.js';
import { compactJson, isRecord } from '../util/values.js';
import {
  type Answer,
  type Dialect,
  otherFields,
  outcomeSentence,
  type Reading,
  unsupported,
  validateNative,
  type Writing,
  warnOf,
  withResourceTexts,
} from './dialect.js';

/** `ResultJson` is a JSON text (seed 002). */
const toolCallResultSchema = z.object({
  Type: z.union([z.string(), z.number()], { error: 'must be a name or a number' }),
  ResultJson: z.string(),
  ToolCallId: z.nullish(z.string()),
  ToolName: z.nullish(z.string()),
});

type Failure = Exclude<Outcome['type'], 'success' | 'unknown'>;

/** The documented members of each payload (seed 002); in the order of LM-Kit's `ToolCallResultType`, after `Success`. */
const MEMBERS: Readonly<Record<Failure, readonly string[]>> = {
  error: ['message', 'code', 'type', 'data'],
  canceled: ['reason', 'by'],
  timeout: ['durationMs'],
  denied: ['tool', 'reason'],
};

const TYPES = ['success', ...(Object.keys(MEMBERS) as Failure[])] as const;

/** The outcome for a type name, in any case, or a type number; null for a type of another version. */
function typeOf(type: string | number): (typeof TYPES)[number] | null {
  if (typeof type === 'number') return TYPES[type] ?? null;
  return TYPES.find(each => each === type.toLowerCase()) ?? null;
}

function nameOf(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}

const TITLE = 'a ToolCallResult of LM-Kit';

const SUPPORTED = new Set([
  ...(['success', 'error', 'canceled', 'timeout', 'denied', 'unknown'] as const),
  ...(['error code', 'error type', 'error data', 'JSON', 'id', 'tool'] as const),
]);

/** A blank `ResultJson` counts as null. */
const BLANK = { ok: true, value: null, notes: [] } as const;

/** Who can cancel a call (seed 002). */
const CANCELERS: ReadonlySet<string> = new Set(['user', 'policy', 'system']);

/** `{Type, ResultJson, ToolCallId, ToolName}` (seed 002): types are read by name or number, and written by name. */
export const lmkitDialect: Dialect = { name: 'lmkit', title: TITLE, read, write };

function read(native: unknown): Reading {
  const validation = validateNative(toolCallResultSchema, native);
  if (!validation.ok) return validation;
  const { Type, ResultJson, ToolCallId, ToolName } = validation.value;
  const json = ResultJson.trim() === '' ? BLANK : parseJson(ResultJson);
  const payload = json.ok ? json.value : ResultJson;
  const { outcome, rest, note } = outcomeIn(Type, payload, ResultJson);
  const more = rest === undefined ? {} : { ResultJson: rest };
  const answer: Answer = {
    call: { id: ToolCallId ?? null, ...(typeof ToolName === 'string' && { tool: ToolName }) },
    outcome,
    payload,
    beside: otherFields(native, Object.keys(toolCallResultSchema.shape), {}, more),
  };
  const notes = [
    ...(outcome.type === 'unknown' ? ['unknown Type'] : []),
    ...(json.ok ? json.notes : [`ResultJson is not valid JSON, and is read as a text: ${json.reason}`]),
    ...(note === undefined ? [] : [note]),
    ...noteOnCanceler(outcome),
  ];
  return { ok: true, dialect: 'lmkit', native, answer, text: ResultJson, notes };
}

function noteOnCanceler(outcome: JudgedOutcome): readonly string[] {
  if (outcome.type !== 'canceled' || outcome.by === undefined || CANCELERS.has(outcome.by)) return [];
  return [`"by" is ${excerpt(outcome.by)}; it should be user, policy or system`];
}

interface OutcomeReading {
  readonly outcome: JudgedOutcome;
  /** Fields of the outcome that the payload has no member for. */
  readonly rest?: string;
  readonly note?: string;
}

function outcomeIn(raw: string | number, payload: unknown, source: string): OutcomeReading {
  const basis = 'declared';
  const type = typeOf(raw);
  if (type === null) return { outcome: { type: 'unknown', raw, basis } };
  if (type === 'success') return { outcome: { type, basis } };
  const documented = documentedOutcome(type, payload);
  if (documented) return documented;
  const note = `ResultJson is not what is documented for ${nameOf(type)}`;
  const text = typeof payload === 'string' ? payload : source;
  if (type === 'error') return { outcome: { type, message: text, basis }, note };
  if (type === 'timeout') return { outcome: { type, basis }, rest: text, note };
  return { outcome: { type, reason: text, basis }, note };
}

/** The type is declared, so null members count as absent and unknown ones are kept. Null if the payload is of another kind. */
function documentedOutcome(type: Failure, payload: unknown): OutcomeReading | null {
  const { [type]: inner, ...beside } = isRecord(payload) ? payload : {};
  if (!isRecord(inner)) return null;
  const given = Object.entries(inner).filter(([, value]) => value !== null);
  const known = given.filter(([name]) => MEMBERS[type].includes(name));
  const outcome = outcomeOfPayload({ [type]: Object.fromEntries(known) });
  if (outcome === null) return null;
  const others = given.filter(([name]) => !MEMBERS[type].includes(name));
  const rest = { ...beside, ...(others.length > 0 && { [type]: Object.fromEntries(others) }) };
  const left = Object.keys(rest).length > 0 ? compactJson(rest) : null;
  return { outcome: { ...outcome, basis: 'declared' }, ...(left !== null && { rest: left }) };
}

function write(given: Answer): Writing {
  const answer = withResourceTexts(given);
  const { call, outcome, payload } = answer;
  const warnings = unsupported(TITLE, SUPPORTED, answer);
  const written = (Type: string | number, ResultJson: string) => ({
    body: { Type, ResultJson, ToolCallId: call.id, ToolName: call.tool ?? null },
    warnings,
  });
  const later = laterTypeIn(outcome);
  if (outcome.type === 'success' || later !== null) {
    // A text that is JSON is written as that JSON, since tools cannot return structured data in any other way.
    const isJson = typeof payload === 'string' && parseJson(payload).ok;
    const json = isJson ? payload : payload === undefined ? 'null' : compactJson(payload);
    if (json === null) warnings.push(warnOf(TITLE, 'JSON', payload));
    return written(later ?? nameOf(outcome.type), json ?? 'null');
  }
  const isUnknown = outcome.type === 'unknown';
  if (isUnknown) warnings.push(warnOf(TITLE, 'unknown', [outcome.raw]));
  const known: Outcome = isUnknown ? { type: 'error', message: outcomeSentence(answer) } : outcome;
  return written(nameOf(known.type), compactJson(payloadOfOutcome(known)) ?? 'null');
}

/** A type of a later version. An unknown outcome of another format may have the same name as a known type. */
function laterTypeIn(outcome: Outcome): string | number | null {
  const raw = outcome.type === 'unknown' ? outcome.raw : null;
  const isType = typeof raw === 'string' || (typeof raw === 'number' && Number.isFinite(raw));
  return isType && typeOf(raw) === null ? raw : null;
}
