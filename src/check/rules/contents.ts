import { idOf } from '../../events/judge-callback.js';
import type { Callback } from '../../protocol/callbacks.js';
import { addresseeIn, type Invocation } from '../../protocol/invocation.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { isEmptyDiff } from '../../segments/diff.js';
import { chooseSegment, knownTypes, readDiff } from '../../segments/segments.js';
import { REDACTED } from '../../util/redact.js';
import { longExcerpt } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import type { Evidence } from '../evidence.js';
import { internalsIn, type LeakFinder, leakFinder } from '../leaks.js';
import { messagesOf } from '../recorded-call.js';
import {
  defineRules,
  doubtful,
  met,
  metWithNote,
  type Observation,
  type Observed,
  requestSpot,
  type Spot,
  unrecorded,
  violated,
} from '../rule.js';
import { MAX_QUOTE_LENGTH, resultSpots } from '../rule-details.js';
import { ranTogether, spanOf } from '../times.js';

const ERROR_PREFIX = 'Error: ';

/** What is left of an error that was turned into a text without its message. */
const NO_MESSAGE = /^\s*(?:\[object \w+\]|undefined|null|None|nil|<nil>)?[\s.]*$/;

/** What callbacks contain: ids, texts and segments for people. */
export const contentRules = defineRules({
  'TOOL-GROUP': {
    level: 'MUST',
    statement: "includes the invocation's group_id in every callback",
    advice: 'Copy group_id unchanged from the invocation into every callback.',
    invocationPage: 'MUST be included in all callback messages to route them to the correct conversation.',
    masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
    absent: 'no readable callback came to a callback URL',
    observe: evidence => compareNames(evidence, 'group_id', message => message.group_id),
  },
  'TOOL-ID': {
    level: 'MUST',
    statement: 'sends id back unchanged',
    advice: 'Copy id from the invocation into the result; do not generate an id.',
    resultPage: 'MUST match the id from the original invocation.',
    masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
    absent: 'no readable result or question came to a callback URL',
    observe: evidence => compareNames(evidence, 'id', message => ('id' in message ? message.id : undefined)),
  },
  'TOOL-CALLID': {
    level: 'MUST',
    statement: 'sends a given call_id back unchanged',
    advice: 'Copy call_id from the invocation into the result; leave it out if the invocation has none.',
    invocationPage: 'If provided, MUST be echoed in the tool result.',
    absent: 'no callback came with a call_id, or for a call that has one',
    observe: evidence =>
      compareNames(evidence, 'call_id', (message, { call_id: given }) => {
        if (!('id' in message)) return undefined;
        if (typeof message.call_id === 'string') return message.call_id;
        // Only a result must repeat it (seeds 000 and 004).
        return message.type === 'tool_result' && typeof given === 'string' ? null : undefined;
      }),
  },
  'TOOL-ISOLATE': {
    level: 'MUST',
    statement: 'never mixes ids, threads or callback URLs of concurrent calls',
    advice: 'Store id, group_id and callback_url per call, never in a variable that calls share.',
    masks: [
      'TOOL-ALWAYS',
      'TOOL-ID',
      'TOOL-GROUP',
      'TOOL-CALLID',
      'TOOL-ONCE',
      'TOOL-RETRY',
      'TOOL-NORETRY',
      'TOOL-SUB',
    ],
    absent: 'no two calls with callbacks ran at the same time',
    observe: ({ calls, isNameOfOtherCall: isOthers }) => {
      const overlapping = new Set(overlappingCalls(calls));
      const silent = calls.filter(isSilent);
      const what = `${overlapping.size} calls that overlapped`;
      return calls.map(call => {
        const { invocation, received, callbacks } = call;
        const mixed = invocation
          ? received.flatMap(each => judgeNames(each, invocation, isOthers) ?? [])
          : [];
        const found = [mixed, judgeResultsOfOthers(call, silent) ?? []].flat();
        return found.length === 0 && overlapping.has(call) ? met(callbacks, what) : found;
      });
    },
  },
  'TOOL-ERRPREFIX': {
    level: 'SHOULD',
    statement: 'starts an error text with "Error: " and says how to fix the error',
    advice: 'Start an error text with “Error: ”, and say what the caller can do about it.',
    resultPage:
      'While the protocol does not mandate error formatting, tools SHOULD prefix error messages with "Error: " to help the LLM distinguish errors from successful results.',
    absent: 'no call ended in an error',
    observe: ({ calls }) =>
      calls.flatMap(errorTexts).map(({ text, callback, spot }) => {
        if (['canceled', 'timeout', 'denied'].includes(outcomeOfText(text).type)) return met(callback);
        const details = {
          expected: `"${ERROR_PREFIX}…"`,
          actual: longExcerpt(text, MAX_QUOTE_LENGTH),
          spots: [spot],
        };
        if (!text.startsWith(ERROR_PREFIX))
          return violated('an error does not start with "Error: "', callback, details);
        return NO_MESSAGE.test(text.slice(ERROR_PREFIX.length))
          ? violated('an error has no message', callback, details)
          : met(callback);
      }),
  },
  'TOOL-SECRET': {
    level: 'MUST',
    statement: 'puts no credential, token or internal identifier in a message',
    advice: 'Remove the credential from the message and replace it: it was sent to a conversation.',
    resultPage:
      'Tools MUST NOT include sensitive data (credentials, tokens, internal identifiers) in results unless the operation explicitly requires it.',
    absent: 'no readable callback came to a callback URL',
    observe: ({ calls }) =>
      calls.map(call => {
        const secrets = leakFinder(call);
        return call.received.map(
          each => judgeSecret(each, secrets) ?? judgeRedacted(each, call) ?? met(each.callback),
        );
      }),
  },
  'TOOL-NOLEAK': {
    level: 'SHOULD',
    statement: 'puts no stack trace, host path or other internal detail in an error text',
    advice: 'Send only the error message; log stacks and paths on your side.',
    resultPage:
      'Tools SHOULD avoid exposing internal implementation details or stack traces in error messages, as these provide no value to the LLM and may leak sensitive information.',
    absent: 'no call ended in an error',
    observe: ({ calls }) =>
      calls.map(call =>
        errorTexts(call).map(({ text, callback, spot }) => {
          const found = internalsIn(text, call);
          return found
            ? violated(`${found.what} is in an error`, callback, { spots: [{ ...spot, range: found.range }] })
            : met(callback);
        }),
      ),
  },
  'TOOL-FALLBACK': {
    level: 'SHOULD',
    statement:
      'ends display_as with a text segment of one short line; omits a display_as that only repeats a short text',
    advice:
      'End display_as with { "type": "text", "content": "one short line" }; omit display_as if it only repeats the text.',
    resultPage:
      'Tools SHOULD include a "text" segment as the last element to provide a universal fallback for runtimes that only support plain text display.',
    absent: 'no result had a display_as',
    observe: ({ calls }) =>
      displaysIn(calls.filter(({ isHostile }) => !isHostile)).map(({ callback, segments, message }) => {
        const { warnings } = chooseSegment(segments, knownTypes, llmText(message));
        const spots = [requestSpot(callback, 'display_as')];
        const fault = warnings.find(({ id }) => id === 'TOOL-FALLBACK');
        if (fault) return violated(fault.message, callback, { spots });
        const hidden = warnings.find(({ id }) => id === undefined);
        return hidden ? doubtful(hidden.message, callback, { spots }) : met(callback);
      }),
  },
  'TOOL-DIFF': {
    level: 'MUST',
    statement: 'gives a diff segment a path and a unified diff as its patch',
    advice: 'Give the segment { path, patch }, with a patch in the format of diff -u: ---, +++, @@.',
    resultPage: 'A unified diff string (standard ---/+++/@@ format).',
    absent: 'no result had a diff to show',
    observe: ({ calls }) =>
      displaysIn(calls).map(({ callback, segments }) =>
        segments.map(({ type, content }, index) =>
          type === 'diff' ? judgeDiff(callback, content, index) : null,
        ),
      ),
  },
  'TOOL-IMAGE': {
    level: 'SHOULD',
    statement:
      'puts a describing text before an image in content, and a text segment after one in display_as',
    advice:
      'Put a text that describes the image before it in content, and a text segment after it in display_as.',
    masks: ['TOOL-FALLBACK'],
    absent: 'no result had an image',
    observe: ({ calls }) =>
      calls
        .flatMap(call => messagesOf(call, 'tool_result'))
        .map(each => [judgeContent(each), judgeImage(each)]),
  },
});

const NAMES = ['group_id', 'id', 'call_id'] as const;

/**
 * Compares a name of each call with the one in each of its messages. A message with a name of another call is reported by TOOL-ISOLATE
 * instead.
 * @param nameIn undefined for a message without the field
 */
function compareNames(
  { calls, isNameOfOtherCall: isOthers }: Evidence,
  name: (typeof NAMES)[number],
  nameIn: (message: Callback, invocation: Invocation) => string | null | undefined,
): Observed {
  return calls.map(({ invocation, received }) => {
    if (!invocation) return null;
    const given = invocation[name] ?? null;
    return received.map(({ callback, message }) => {
      const came = nameIn(message, invocation);
      if (came === undefined || namesOfOthers(message, invocation, isOthers).length > 0) return null;
      return came === given ? met(callback) : judgeOtherName(name, { callback, message }, given, came);
    });
  });
}

function judgeOtherName(
  name: string,
  { callback, message }: ReceivedCallback,
  given: string | null,
  came: string | null,
): Observation {
  const actual = came === null ? 'none' : longExcerpt(came, MAX_QUOTE_LENGTH);
  return violated(`a ${message.type} has ${came === null ? 'no' : 'another'} ${name}`, callback, {
    ...(came !== null && { name: actual }),
    expected: given === null ? 'none' : longExcerpt(given, MAX_QUOTE_LENGTH),
    actual,
    spots: [requestSpot(callback, name)],
  });
}

/** The names in a message that belong to another call. */
function namesOfOthers(
  message: Callback,
  invocation: Invocation,
  isOthers: Evidence['isNameOfOtherCall'],
): readonly (typeof NAMES)[number][] {
  const names = { ...message, id: idOf(message) };
  return NAMES.filter(name => {
    const value = name in names ? names[name as keyof typeof names] : undefined;
    return typeof value === 'string' && isOthers(name, value, invocation);
  });
}

function judgeNames(
  { callback, message }: ReceivedCallback,
  invocation: Invocation,
  isOthers: Evidence['isNameOfOtherCall'],
): Observation | null {
  const mixed = namesOfOthers(message, invocation, isOthers);
  if (mixed.length === 0) return null;
  const what = `a ${message.type} with the ${mixed.join(', ')} of another call came to a callback URL`;
  return violated(what, callback, { spots: mixed.map(name => requestSpot(callback, name)) });
}

/**
 * A tool that keeps one call in a variable for all posts every result with the names of the latest one: that call gets its result several
 * times, and those that it ran together with get none.
 */
function judgeResultsOfOthers(call: CallEvidence, silent: readonly CallEvidence[]): Observation | null {
  const further = resultsNoOneAskedFor(call);
  const [first] = further;
  if (!first) return null;
  const deprived = silent.filter(each => ranTogether(each, call) && spanOf(each).to > first.request.at);
  if (deprived.length === 0) return null;
  const what = `a call got ${further.length + 1} results, and ${deprived.length} that ran at the same time got none`;
  return violated(what, [...further, ...deprived.flatMap(({ attempts }) => attempts)]);
}

/** Whether nothing came for a call until its end. */
function isSilent({ ending: { kind }, callbacks, strays }: CallEvidence): boolean {
  return (kind === 'silent' || kind === 'called-off') && callbacks.length === 0 && strays.length === 0;
}

/** The shortest time after which a client gives up waiting for an answer, and tries again, in ms. */
const MIN_PATIENCE_MS = 500;

/** The results after an accepted one that are no retries: they came after its 200, or before anyone would try again. */
function resultsNoOneAskedFor({ results }: CallEvidence): readonly CallbackEvidence[] {
  const accepted = results.findIndex(({ status }) => status === 200);
  const first = results[accepted];
  if (!first?.end) return [];
  const { request, end } = first;
  return results
    .slice(accepted + 1)
    .filter(({ request: { seq, at } }) => seq > end.seq || at < request.at + MIN_PATIENCE_MS);
}

/** The answered calls that ran at the same time as another one. */
function overlappingCalls(calls: readonly CallEvidence[]): readonly CallEvidence[] {
  const spans = calls
    .filter(({ invocation, callbacks }) => invocation && callbacks.length > 0)
    .map(call => ({ call, ...spanOf(call) }))
    .sort((one, other) => one.from - other.from);
  let busyUntil = -1;
  return spans.flatMap(({ call, from, to }, index) => {
    const overlaps = from < busyUntil || (spans[index + 1]?.from ?? Number.POSITIVE_INFINITY) < to;
    busyUntil = Math.max(busyUntil, to);
    return overlaps ? [call] : [];
  });
}

interface ErrorText {
  readonly text: string;
  /** The member that the text is from. */
  readonly spot: Spot;
  readonly callback: CallbackEvidence;
}

/** How an error text starts that does not follow the convention. */
const COMPLAINT = /^\s*(?:\w{1,60}(?:error|exception)|error|exception|failure|failed|fatal)\s*[:!–-]/i;

/** The results that are errors by convention, start like one, or refuse an invalid call. */
function errorTexts(call: CallEvidence): readonly ErrorText[] {
  const results = messagesOf(call, 'tool_result').map(({ callback, message }) => ({
    text: llmText(message),
    spot: textSpot(callback),
    callback,
  }));
  const isRefusal = call.flaw !== null && call.ending.kind === 'result' && call.ending.isError;
  if (isRefusal) return results.slice(0, 1);
  return results.filter(({ text }) => outcomeOfText(text).type === 'error' || COMPLAINT.test(text));
}

/** The member that has the whole text that the model got. */
function textSpot(callback: CallbackEvidence): Spot {
  const [first = requestSpot(callback, 'text'), ...others] = resultSpots(callback);
  return others.length === 0 ? first : requestSpot(callback, 'content');
}

/** Reports the kind and place of the secret, never the secret. */
function judgeSecret({ callback, message }: ReceivedCallback, secrets: LeakFinder): Observation | null {
  for (const { place, path, text } of callback.texts) {
    const secret = secrets.findAny(text);
    if (secret)
      return violated(`${secret.what} is in ${place} of a ${message.type}`, callback, {
        spots: [{ ...requestSpot(callback, ...path), range: secret.range }],
      });
  }
  // TOOL-OAUTH finds the others.
  const own = message.type === 'oauth' ? secrets.findOfCall(message.auth_url) : null;
  return own
    ? violated(`${own.what} is in auth_url`, callback, { spots: [requestSpot(callback, 'auth_url')] })
    : null;
}

/** It may have been a secret; if nothing else in the recording was redacted, the tool may have written it. */
function judgeRedacted(
  { callback, message }: ReceivedCallback,
  { reading }: CallEvidence,
): Observation | null {
  const text = callback.texts.find(each => each.text.includes(REDACTED));
  if (!text) return null;
  const isRedacted = addresseeIn(reading)?.callback_url.includes(REDACTED) === true;
  return (isRedacted ? unrecorded : doubtful)(
    `a redacted value is in ${text.place} of a ${message.type}`,
    callback,
  );
}

function displaysIn(calls: readonly CallEvidence[]) {
  return calls
    .flatMap(call => messagesOf(call, 'tool_result'))
    .flatMap(({ callback, message }) =>
      message.display_as?.length ? [{ callback, message, segments: message.display_as }] : [],
    );
}

function judgeDiff(callback: CallbackEvidence, content: unknown, index: number): Observation {
  const reading = readDiff(content);
  const place = `display_as[${index}]`;
  const spots = [requestSpot(callback, 'display_as', index, 'content')];
  if (!reading.ok) return violated(`${place}: ${reading.reason}`, callback, { spots });
  if (reading.complaint !== undefined) return doubtful(`${place}: ${reading.complaint}`, callback, { spots });
  const { drawing } = reading;
  return drawing.kind === 'diff' && isEmptyDiff(drawing.diff)
    ? metWithNote(`${place} shows no changes`, callback)
    : met(callback);
}

function judgeContent({ callback, message: { content = [] } }: ReceivedCallback<'tool_result'>): Observed {
  if (!content.some(({ type }) => type === 'image')) return null;
  const [first] = content;
  if (first?.type === 'text' && first.text.trim() !== '') return met(callback);
  const what = 'content has an image, and does not begin with a text that describes it';
  return violated(what, callback, { spots: [requestSpot(callback, 'content')] });
}

function judgeImage({
  callback,
  message: { display_as: segments = [] },
}: ReceivedCallback<'tool_result'>): Observed {
  const image = segments.findLastIndex(({ type }) => type === 'image');
  if (image < 0) return null;
  if (segments.slice(image + 1).some(({ type }) => type === 'text')) return met(callback);
  const what = `display_as[${image}] is an image, and no text follows it`;
  return violated(what, callback, { spots: [requestSpot(callback, 'display_as')] });
}
