import type * as z from 'zod/mini';
import type { Outcome } from '../protocol/outcome.js';
import { type Validation, validate } from '../protocol/validate.js';
import { excerpt } from '../util/excerpt.js';
import { formatDuration } from '../util/format-duration.js';
import { compactJson, isRecord, MAX_DEPTH } from '../util/json-diagnosis.js';
import {
  type Answer,
  type AnsweredCall,
  type Dialect,
  FEATURES,
  type Feature,
  type Loss,
} from './dialect.js';

/** What an answer has, each feature with its value: all that a wire may carry or lose. */
export function featuresOf({ call, outcome, payload, beside = {} }: Answer): ReadonlyMap<Feature, unknown> {
  const all: Partial<Record<Feature, unknown>> = {
    ...beside,
    ...outcomeFeatures(outcome),
    ...(hasPayload(outcome) && payloadFeature(payload)),
    ...callFeatures(call),
  };
  return new Map(
    FEATURES.flatMap(feature => (all[feature] === undefined ? [] : [[feature, all[feature]] as const])),
  );
}

/** Whether it is told by its payload, and not by words of its own. */
function hasPayload({ type }: Outcome): boolean {
  return type === 'success' || type === 'unknown';
}

/** Those that are a matter of the payload. */
export const PAYLOAD_FEATURES: readonly Feature[] = ['text', 'JSON', 'no payload'];

/** The keys of a `tool_req` that every one has. */
const REQUEST_KEYS = ['tool_name', 'args', 'id'];

function outcomeFeatures(outcome: Outcome): Partial<Record<Feature, unknown>> {
  switch (outcome.type) {
    case 'success':
      return { success: true };
    case 'error':
      return {
        error: outcome.message,
        'error code': outcome.code,
        'error type': outcome.errorType,
        'error origin': outcome.origin,
      };
    case 'canceled':
      return { canceled: [outcome.reason, outcome.by] };
    case 'timeout':
      return { timeout: [outcome.durationMs] };
    case 'denied':
      return { denied: [outcome.tool, outcome.reason] };
    case 'unknown':
      return { unknown: [outcome.raw] };
  }
}

function payloadFeature(payload: unknown): Partial<Record<Feature, unknown>> {
  if (payload === undefined) return { 'no payload': true };
  return typeof payload === 'string' ? { text: payload } : { JSON: [payload] };
}

function callFeatures({ id, tool, args, thread, secondaryId, request = {} }: AnsweredCall) {
  const others = Object.entries(request).filter(([key]) => !REQUEST_KEYS.includes(key));
  return {
    id: id ?? undefined,
    tool,
    arguments: args,
    'other request fields': others.length > 0 ? others : undefined,
    thread,
    'secondary id': secondaryId,
  };
}

type Wire = Pick<Dialect, 'title' | 'carries'>;

/** What a wire cannot carry of an answer, by its table; with an unknown outcome its payload is lost, too. */
export function lossesOf(wire: Wire, answer: Answer): Loss[] {
  return [...featuresOf(answer)]
    .filter(([feature]) => isLost(wire, answer, feature))
    .map(([feature, value]) => lossOf(wire, feature, value));
}

/** One that the table does not tell: this answer has what the wire would take for something else. */
export function lossOf({ title }: Pick<Wire, 'title'>, feature: Feature, value: unknown): Loss {
  return { feature, message: `${title} cannot carry ${WORDS[feature](value)}` };
}

function isLost({ carries }: Wire, { outcome }: Answer, feature: Feature): boolean {
  const goesWithOutcome = PAYLOAD_FEATURES.includes(feature) && hasPayload(outcome);
  return carries[feature] === 'lost' || (goesWithOutcome && carries[outcome.type] === 'lost');
}

/** What is lost, in words that go on from "… cannot carry". */
const WORDS: Readonly<Record<Feature, (value: unknown) => string>> = {
  success: () => 'the success',
  error: message => `the error ${quoted(message)}`,
  canceled: () => 'that the call was canceled: it is told as an error',
  timeout: () => 'that the time ran out: it is told as an error',
  denied: () => 'that the call was denied: it is told as an error',
  unknown: raw => `the outcome ${quoted(first(raw))}: it is told as an error`,
  'error code': code => `the error's code ${quoted(code)}`,
  'error type': type => `the error's type ${quoted(type)}`,
  'error origin': origin => `the error's origin ${quoted(origin)}`,
  text: text => `the text ${quoted(text)}`,
  JSON: () => 'a payload that is JSON: it is written as a text',
  'no payload': () => 'that there is no payload',
  images: images => `${count(images, 'image')}`,
  'other content': blocks => `${count(blocks, 'content block')} of another kind than text and image`,
  'order of content': () =>
    'the order and the bounds of its content blocks: texts are joined and stand first',
  'structured content': () => 'structured content',
  meta: () => 'metadata (_meta)',
  display: segments => `what people see (display_as, ${count(segments, 'segment')})`,
  subscription: () => 'that events will follow (subscription)',
  id: id => `the id ${quoted(id)}`,
  tool: tool => `the tool's name ${quoted(tool)}`,
  arguments: () => 'the arguments',
  'other request fields': () => 'other fields of the call',
  thread: thread => `the thread ${quoted(thread)}`,
  'secondary id': id => `the call_id ${quoted(id)}`,
  'other fields': fields => `fields that are not known here: ${keys(fields)}`,
};

const MOST_KEYS = 5;

function quoted(value: unknown): string {
  return excerpt(typeof value === 'string' ? value : (compactJson(value) ?? 'no JSON'));
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

function count(value: unknown, noun: string): string {
  const number = Array.isArray(value) ? value.length : 1;
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function keys(value: unknown): string {
  const names = Object.keys(typeof value === 'object' && value !== null ? value : {});
  const rest = names.length - MOST_KEYS;
  const told = names.slice(0, MOST_KEYS).map(excerpt).join(', ');
  return rest > 0 ? `${told} and ${rest} more` : told;
}

/** An outcome for the model, in the words of an error, where a wire has none for its kind. */
export function sentenceOf({ outcome, payload }: Pick<Answer, 'outcome' | 'payload'>): string {
  switch (outcome.type) {
    case 'error':
      return outcome.message;
    case 'canceled':
      return canceledSentence(outcome);
    case 'timeout':
      return timeoutSentence(outcome);
    case 'denied':
      return deniedSentence(outcome);
    case 'unknown':
      return withReason(
        `The call ended as ${rawWords(outcome.raw)}, which is not known here`,
        words(payload),
      );
    case 'success':
      return words(payload) ?? '';
  }
}

/** A payload as a text: a string as it is, other JSON without blanks; undefined where there is none. */
export function words(payload: unknown): string | undefined {
  return typeof payload === 'string' ? payload : (compactJson(payload) ?? undefined);
}

type Kind<Type extends Outcome['type']> = Extract<Outcome, { type: Type }>;

function canceledSentence({ reason, by }: Kind<'canceled'>): string {
  return withReason(`The call was canceled${by === undefined ? '' : ` by the ${by}`}`, reason);
}

function timeoutSentence({ durationMs }: Kind<'timeout'>): string {
  const limit = Number.isFinite(durationMs) ? ` (${formatDuration(durationMs ?? 0)})` : '';
  return `The tool did not answer within the time allowed${limit}.`;
}

function deniedSentence({ tool, reason }: Kind<'denied'>): string {
  return withReason(`The call${tool === undefined ? '' : ` of ${tool}`} was denied`, reason);
}

function withReason(sentence: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? `${sentence}.` : `${sentence}: ${reason}`;
}

function rawWords(raw: unknown): string {
  return excerpt(words(raw) ?? 'nothing');
}

/** Of what is wrong; whoever mends these finds the others. */
const MOST_FAULTS = 8;

/** A foreign message against the schema of its wire: its depth too, since what is read may be written again (threats, row 18). */
export function checked<Schema extends z.ZodMiniType>(
  schema: Schema,
  native: unknown,
): Validation<z.infer<Schema>> {
  if (isTooDeep(native)) return { ok: false, faults: [`$: is nested deeper than ${MAX_DEPTH} levels`] };
  const validation = validate(schema, native);
  return validation.ok ? validation : { ok: false, faults: few(validation.faults) };
}

/** What a message has beside the fields that are known, for which no other wire has a place; undefined where it has none. */
export function otherFields(
  native: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  const others = Object.entries(isRecord(native) ? native : {}).filter(([key]) => !known.includes(key));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

function isTooDeep(value: unknown): boolean {
  const open: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [each, depth] = next;
    if (typeof each !== 'object' || each === null) continue;
    if (depth >= MAX_DEPTH) return true;
    for (const inner of Object.values(each)) open.push([inner, depth + 1]);
  }
  return false;
}

function few(faults: readonly string[]): string[] {
  const rest = faults.length - MOST_FAULTS;
  return rest > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${rest} more`] : [...faults];
}
