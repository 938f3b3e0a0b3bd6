import type { Answer, Feature } from '../../dialects/dialect.js';
import { sessionDialect } from '../../dialects/session.js';
import { exactJson } from '../../util/exact-json.js';
import { LIMITS } from '../../util/limits.js';
import { isRecord, stringOrJson } from '../../util/values.js';
import { answeredCall } from './answerer.js';
import type { PendingCall } from './pending-calls.js';

/** An answer in the form in which it is posted. */
export interface EncodedAnswer {
  readonly call: PendingCall;
  /** `tool_result` or `error_event`. */
  readonly kind: string;
  /** JSON. */
  readonly bytes: Uint8Array;
  /** What the session dialect cannot express. */
  readonly losses: readonly string[];
}

/** Features that this wire is not expected to carry. */
const FOR_THE_MODEL: ReadonlySet<Feature> = new Set([
  'images',
  'other content',
  'structured content',
  'subscription',
]);

/** Encodes an answer, with the whole `tool_req` (seed 001). @throws TypeError if it cannot be written as JSON. */
export function encodeAnswer(call: PendingCall, answer: Answer): EncodedAnswer {
  const { body, warnings } = sessionDialect.write({ ...answer, call: answeredCall(call) });
  const fields = isRecord(body) ? body : {};
  if ('result' in fields && JSON.stringify(fields['result']) === undefined)
    throw new TypeError(`JSON has nothing for a ${typeof fields['result']}`); // JSON.stringify would omit it
  return {
    call,
    kind: stringOrJson(fields['kind']),
    bytes: Buffer.from(exactJson(body)),
    losses: warnings.filter(({ feature }) => FOR_THE_MODEL.has(feature)).map(({ message }) => message),
  };
}

const BATCH = ['{"type":"batch","results":[', ']}'] as const;

/** Groups answers in order into as few bodies as possible. An answer that is too large gets a group of its own. */
export function groupAnswers(answers: readonly EncodedAnswer[]): EncodedAnswer[][] {
  const groups: EncodedAnswer[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of answers) {
    size += each.bytes.length + 1;
    if (size <= LIMITS.sessionBodyBytes.value) groups.at(-1)?.push(each);
    else {
      groups.push([each]);
      size = BATCH.join('').length + each.bytes.length;
    }
  }
  return groups;
}

/** Joins answers into one body: a plain object for one call, a batch for several. */
export function joinAnswers(answers: readonly EncodedAnswer[]): Uint8Array {
  const [only] = answers;
  if (only && answers.length === 1) return only.bytes;
  const pieces = answers.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return Buffer.concat([Buffer.from(BATCH[0]), ...pieces, Buffer.from(BATCH[1])]);
}
