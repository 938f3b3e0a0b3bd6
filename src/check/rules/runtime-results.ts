import type { ToolResult } from '../../protocol/callbacks.js';
import { isSuccess } from '../../protocol/http-status.js';
import { llmText } from '../../protocol/outcome.js';
import { excerpt } from '../../util/text.js';
import { isRecord, stringsIn } from '../../util/values.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import { type DriverEvidence, isExactly, nameOfCall, type ObservationMessage } from '../driver-evidence.js';
import type { Evidence } from '../evidence.js';
import { messagesOf } from '../recorded-call.js';
import {
  defineRules,
  doubtful,
  inconclusive,
  met,
  type Observation,
  type Observed,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { faultLine, statusMismatch, wrongRefusalDetails } from '../rule-details.js';
import { hasOddSegment } from './segment-types.js';
import { isHandled, judgeEachResult, type ResultWithSightings, type Sighting } from './sent-results.js';

/** Results and other callbacks that a runtime receives. */
export const runtimeResultRules = defineRules({
  'RT-VALIDATE': {
    level: 'MUST',
    statement: 'validates every callback against its schema; answers an invalid one with 4xx and ignores it',
    advice: 'Validate a callback before you use it, and answer an invalid one with 400.',
    masks: ['RT-TEXT', 'RT-DISPLAY', 'RT-PENDING', 'RT-OAUTH', 'RT-CHOICE', 'RT-SUB', 'RT-VIEW'],
    absent: 'no callback came',
    observe: judgeInvalid,
  },
  'RT-MATCH': {
    level: 'MUST',
    statement: 'logs and discards a result that matches no pending call',
    advice:
      'Compare group_id and id with the pending calls; answer 404 if none matches, and do not inform the model.',
    resultPage: 'It MUST NOT inject unmatched results into any conversation.',
    masks: ['RT-TEXT', 'RT-SUB'],
    needs: ['model'],
    absent: 'no result came with ids that match no pending call',
    observe: evidence => evidence.calls.map(call => judgeUnmatched(call, evidence)),
  },
  'RT-SANITIZE': {
    level: 'SHOULD',
    statement: 'validates text before it passes it to the model',
    advice: 'Check text for control characters and invisible characters before you pass it to the model.',
    resultPage:
      'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
    unobservable: 'not visible in HTTP traffic: it happens before the text goes to the model',
  },
  'RT-DUP': {
    level: 'SHOULD',
    statement: 'processes a duplicate delivery once and answers it with 200',
    advice: 'Remember which results were processed, and answer duplicates with 200.',
    resultPage:
      'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
    masks: ['RT-ACK'],
    absent: 'no delivery came twice',
    observe: evidence => [
      evidence.calls.map(judgeDuplicates),
      judgeEachResult(evidence, judgeFurther),
      evidence.calls.map(call => evidence.driver && judgeRepeatedQuestion(call, evidence.driver)),
    ],
  },
  'RT-TEXT': {
    level: 'MUST',
    statement: 'gives the model text or content in full and unchanged, independent of display_as',
    advice: 'Give the model text or content unchanged; display_as is only for people.',
    resultPage:
      "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
    masks: ['RT-DISPLAY', 'RT-ACK'],
    needs: ['model'],
    absent: 'not visible in HTTP traffic: it concerns what the model gets',
    observe: evidence => [
      judgeEachResult(evidence, judgeText),
      evidence.calls.map(call => evidence.driver && judgeAcknowledgementText(call, evidence.driver)),
    ],
  },
  'RT-CANCEL': {
    level: 'MUST',
    statement: 'ignores a result that comes after the call was canceled',
    advice: 'Answer 200 to a late result of a canceled call, and do not give it to the model.',
    needs: ['cancel', 'model'],
    absent: 'not visible in HTTP traffic: it concerns what the model gets after a cancel',
    observe: evidence => judgeEachResult(evidence, judgeCanceled),
  },
});

/** Members whose texts the model or the user may see. */
const VISIBLE = ['text', 'content', 'prompt', 'auth_url'];

/** A shorter text may be a part of another one. */
const MIN_TRACE = 8;

function judgeInvalid({ calls, unmatchedCallbacks, driver }: Evidence): Observed {
  const callbacks = [...calls.flatMap(call => call.callbacks), ...unmatchedCallbacks];
  const invalid = callbacks.filter(callback => callback.status !== null && isInvalid(callback));
  if (invalid.length === 0 && callbacks.length > 0)
    return inconclusive('every callback matched its schema', []);
  return invalid.map(callback => {
    const { reading, status, isRefused } = callback;
    if (reading?.ok !== false) return judgeOtherType(callback);
    const faults = reading.faults.slice(0, 1).map(faultLine);
    const [trace] = driver ? tracesOf(driver, callback) : [];
    if (trace) return { ...leaked('an invalid callback was used', callback, trace), faults };
    if (isRefused) return met(callback);
    const what = `a callback that does not match its schema was answered ${status}`;
    return violated(what, callback, { ...statusMismatch(callback, '4xx'), faults });
  });
}

/** What the model or the user saw of a message that must have no effect. The texts of a scenario are unique. */
function tracesOf(
  driver: DriverEvidence,
  { request: { body } }: CallbackEvidence,
): readonly ObservationMessage[] {
  if (!body) return [];
  const texts = body.json.ok
    ? visibleIn(body.json.value)
    : quotedIn(Buffer.from(body.bytes).toString('utf8'));
  const marks = texts.filter(({ length }) => length >= MIN_TRACE);
  return driver.observationsShowing(marks, 'model', 'failure', 'question', 'view');
}

function visibleIn(message: unknown): readonly string[] {
  if (Array.isArray(message)) return message.flatMap(visibleIn);
  if (!isRecord(message)) return stringsIn(message);
  return VISIBLE.flatMap(name => stringsIn(message[name] ?? []));
}

const QUOTED = new RegExp(`"(?:${VISIBLE.join('|')})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`, 'gs');

function quotedIn(text: string): readonly string[] {
  return [...text.matchAll(QUOTED)].map(([, quoted = '']) => quoted);
}

function isInvalid({ reading, hasJsonType }: CallbackEvidence): boolean {
  return reading?.ok === false || (reading !== null && !hasJsonType);
}

/** The content type is not a part of the schema. */
function judgeOtherType(callback: CallbackEvidence): Observation {
  const { status, isRefused, request } = callback;
  if (isRefused) return met(callback);
  const type = request.headers['content-type'];
  const what = `a callback with ${type === undefined ? 'no Content-Type' : `Content-Type ${excerpt(type)}`}`;
  return doubtful(`${what} was answered ${status}`, callback, statusMismatch(callback, '4xx'));
}

function leaked(what: string, callback: CallbackEvidence, seen: ObservationMessage): Observation {
  return violated(what, [callback, seen], { about: [callback.request.seq] });
}

/** The runtime may discard a forged message that it answered 2xx, unless it then refuses the real one. */
function judgeUnmatched(call: CallEvidence, { driver, calls }: Evidence): Observed {
  const { callbacks } = call;
  const unmatched = callbacks.filter(
    ({ verdict, response, message }) =>
      verdict?.kind === 'discarded' && response !== null && message?.type !== 'subscription_event',
  );
  const real = callbacks.find(({ verdict, isRefused }) => verdict?.kind === 'settles' && isRefused);
  return unmatched.map(forged => {
    const [trace] = driver
      ? tracesOf(driver, forged).filter(seen => !mayBeForNamed(seen, forged, calls, driver))
      : [];
    if (trace) return leaked('a message that matches no pending call was used', forged, trace);
    if (forged.isRefused || driver) return met(forged);
    return real
      ? violated("was accepted as the call's result, and the real result was then refused", [forged, real])
      : doubtful('was accepted; the transcript does not show whether it was discarded', forged);
  });
}

/** Whether the observation may belong to the call named in the message; then the runtime could not know that the message is forged. */
function mayBeForNamed(
  seen: ObservationMessage,
  { message }: CallbackEvidence,
  calls: readonly CallEvidence[],
  driver: DriverEvidence,
): boolean {
  if (message === null || !('id' in message)) return false;
  const name = nameOfCall(message);
  const named = calls.filter(({ invocation }) => nameOfCall(invocation) === name);
  return named.some(call => driver.possibleObservationsOf(call, seen.message.saw).includes(seen));
}

/** A callback that was not accepted can have no duplicates. */
function judgeDuplicates({ callbacks }: CallEvidence): Observed {
  const accepted = new Set<string | null>();
  return callbacks.map(callback => {
    const { fingerprint, status, verdict } = callback;
    const isRepeated =
      accepted.has(fingerprint) && verdict?.kind === 'duplicate' && verdict.identical && status !== null;
    if (status !== null && isSuccess(status)) accepted.add(fingerprint);
    if (!isRepeated) return null;
    if (status < 300) return met(callback); // RT-ACK judges another 2xx
    const what = `a delivery that came again was answered ${status}`;
    return violated(what, callback, statusMismatch(callback));
  });
}

/** A further result of a call must not reach the model; a repeated one must reach it once. */
function judgeFurther(
  { status, callback, message, call, sightings, results }: ResultWithSightings,
  driver: DriverEvidence,
): Observed {
  if (status !== 'further' || !driver.supports('model')) return null;
  const { seq } = callback.request;
  const isEarlierCopy = (one: CallbackEvidence) => one.equals(callback) && one.request.seq < seq;
  const isRepeated = results.some(each => each.call === call && isEarlierCopy(each.callback));
  const copies = sightings.filter(each => isExactly(each.message.text, message));
  const extra = copies[isRepeated ? 1 : 0];
  if (!extra) return isRepeated ? null : met(callback);
  const what = isRepeated ? 'the model got a repeated result twice' : 'the model got a second result';
  return leaked(what, callback, extra);
}

/** The user must be asked once. */
function judgeRepeatedQuestion(call: CallEvidence, driver: DriverEvidence): Observed {
  if (!driver.supports('question')) return null;
  const shown = driver.possibleObservationsOf(call, 'question');
  const questions = messagesOf(call, 'user_choice').filter(({ callback }) => callback.response);
  return questions.map(({ callback, message: { prompt } }) => {
    const copies = questions.filter(each => each.callback.equals(callback));
    const [second] = shown.filter(({ message }) => message.prompt === prompt).slice(1);
    if (copies.length < 2 || callback !== copies.at(-1)?.callback) return null;
    return second ? leaked('the user was asked a repeated question twice', callback, second) : met(callback);
  });
}

function judgeCanceled({ status, callback, message, sightings }: ResultWithSightings): Observed {
  if (status !== 'canceled') return null;
  const trace = sightings.find(each => isExactly(each.message.text, message));
  return trace
    ? leaked('the model got a result after the call was canceled', callback, trace)
    : met(callback, 'not seen by the model');
}

function judgeText(result: ResultWithSightings, driver: DriverEvidence): Observed {
  const { status, callback, message, sightings } = result;
  if (status !== 'awaited') return null;
  const exact = sightings.find(each => isFitting(each, result));
  if (exact) return met([callback, exact]);
  if (!isHandled(result, driver)) return null;
  const expected = llmText(message);
  const core = expected.trim(); // what adds words may also remove white space
  const isWrapped = ({ event, message: { text } }: Sighting) =>
    core !== '' && event.seq > callback.request.seq && text.includes(core);
  const other = sightings.find(
    each => (each.message.id !== undefined || isWrapped(each)) && !isExplained(each, result),
  );
  if (!other) return driver.crash ? null : judgeMissing(callback, message);
  const { text } = other.message;
  const judge = (judged: typeof violated, what: string) =>
    judged(what, [callback, other], difference(expected, text));
  if (text === message.text) return judge(doubtful, 'the model got text; content takes its place');
  if (text.replace(HIDDEN, '') === expected.replace(HIDDEN, ''))
    return judge(doubtful, 'control or invisible characters were removed (RT-SANITIZE)');
  return result.call?.isAcknowledgedWithBody
    ? judge(
        violated,
        'the model got another text; the acknowledgement had a body, which a runtime does not read',
      )
    : judge(violated, 'the model got another text');
}

/** Maximum length of the beginning of a body that is looked for, in characters. */
const MAX_TRACE = 100;

/** A runtime does not read the body of an acknowledgement. */
function judgeAcknowledgementText({ attempts }: CallEvidence, driver: DriverEvidence): Observed {
  return attempts.map(attempt => {
    const body = attempt.status === 200 ? attempt.response?.body : undefined;
    if (!body) return null;
    const texts = body.json.ok ? visibleIn(body.json.value) : [body.text?.slice(0, MAX_TRACE) ?? ''];
    const marks = texts.filter(({ length }) => length >= MIN_TRACE);
    const [trace] = driver.observationsShowing(marks, 'model', 'failure');
    return trace ? violated('the model got the body of an acknowledgement', [attempt, trace]) : null;
  });
}

/** Whether the model got the result, or one for the same call from another sender, which a runtime cannot distinguish. */
function isFitting(
  { message: { text } }: Sighting,
  { call, message, results }: ResultWithSightings,
): boolean {
  const foreign = results.filter(each => each.status === 'foreign' && each.call === call);
  return [message, ...foreign.map(each => each.message)].some(each => isExactly(text, each));
}

/** Whether the model got it for another message of the same call. */
function isExplained({ message: { text } }: Sighting, { call, results }: ResultWithSightings): boolean {
  const isEvent = call && messagesOf(call, 'subscription_event').some(({ message }) => message.text === text);
  return isEvent || results.some(each => each.call === call && isExactly(text, each.message));
}

const TOO_LARGE = 413;

/** RT-DISPLAY judges the refusal of an unknown type; a malformed segment may be refused. */
function judgeMissing(callback: CallbackEvidence, message: ToolResult): Observed {
  const { status, isRefused } = callback;
  if (status === TOO_LARGE) return null; // the protocol leaves the limit open
  if (!isRefused) return violatedIfComplete('a result never reached the model', callback);
  if (hasOddSegment(message)) return null;
  if (message.text === undefined)
    return doubtful(`a result with content but no text was answered ${status}`, callback);
  return violatedIfComplete(
    `a result of a pending call was answered ${status}, and never reached the model`,
    callback,
    wrongRefusalDetails(callback),
  );
}

const HIDDEN = /[\p{Cc}\p{Cf}]/gu;

const CONTEXT = 20;

/** Shows both texts from shortly before their first difference. */
function difference(expected: string, actual: string) {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const from = Math.max(0, at - CONTEXT);
  const shown = (text: string) => excerpt((from > 0 ? '…' : '') + text.slice(from, from + 10 * CONTEXT));
  return { expected: shown(expected), actual: shown(actual) };
}
