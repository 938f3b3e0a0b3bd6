import { type ResultType, resultTypeOf, toolCallResultSchema } from '../protocol/callbacks.js';
import { type JudgedOutcome, type Outcome, outcomeOfPayload, payloadOfOutcome } from '../protocol/outcome.js';
import { parseJson } from '../util/json.js';
import { compactJson, isRecord } from '../util/json-diagnosis.js';
import type { Answer, Dialect, Feature, Loss, Reading, Writing } from './dialect.js';
import { checked, lossesOf, lossOf, otherFields, sentenceOf } from './losses.js';

/** What a `ResultJson` says, seen with the type beside it. */
interface PayloadReading {
  readonly outcome: JudgedOutcome;
  readonly payload: unknown;
  readonly notes: readonly string[];
  /** What stands in it that the outcome has no place for. */
  readonly rest?: string;
}

/** Reads a `ResultJson`. One that is no JSON, or not what is documented for its type, is taken for words, and nothing is lost (seed 002). */
function readPayload(resultJson: string, type: ResultType | null, raw: unknown): PayloadReading {
  const json = parseJson(resultJson);
  const payload = json.ok ? json.value : resultJson;
  const notes = json.ok ? [...json.notes] : [`ResultJson is no JSON, and taken for a text: ${json.reason}`];
  if (type === null) return { outcome: { type: 'unknown', raw, basis: 'declared' }, payload, notes };
  if (type === 'Success') return { outcome: { type: 'success', basis: 'declared' }, payload, notes };
  const kind = KINDS[type];
  const documented = json.ok ? declaredOutcome(kind, payload) : null;
  if (documented) return { ...documented, payload, notes };
  const said = typeof payload === 'string' ? payload : resultJson;
  return {
    ...inWords(kind, said),
    payload,
    notes: [...notes, `ResultJson is not what is documented for ${type}`],
  };
}

const KINDS = { Error: 'error', Canceled: 'canceled', Timeout: 'timeout', Denied: 'denied' } as const;

/** The members that are documented for a kind (seed 002). */
const MEMBERS = {
  error: ['message', 'code', 'type'],
  canceled: ['reason', 'by'],
  timeout: ['durationMs'],
  denied: ['tool', 'reason'],
} as const;

/**
 * The type is declared, nothing has to be guessed: a member that is null was not given, and what else stands there is kept beside. Null
 * where the payload is no object of its kind.
 */
function declaredOutcome(
  kind: keyof typeof MEMBERS,
  payload: unknown,
): Pick<PayloadReading, 'outcome' | 'rest'> | null {
  const inner = isRecord(payload) ? payload[kind] : undefined;
  if (!isRecord(payload) || !isRecord(inner)) return null;
  const members: readonly string[] = MEMBERS[kind];
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

/** The same kind of outcome, with what was said as its reason; a timeout has none. */
function inWords(
  kind: Exclude<Outcome['type'], 'success' | 'unknown'>,
  said: string,
): Pick<PayloadReading, 'outcome' | 'rest'> {
  const basis = 'declared';
  if (kind === 'error') return { outcome: { type: kind, message: said, basis } };
  if (kind === 'timeout') return { outcome: { type: kind, basis }, rest: said };
  return { outcome: { type: kind, reason: said, basis } };
}

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
