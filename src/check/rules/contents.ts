import { addresseeIn } from '../../protocol/invocation.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { isEmptyDiff } from '../../segments/diff.js';
import { chooseSegment, knownTypes, readDiff } from '../../segments/segments.js';
import { REDACTED } from '../../util/redact.js';
import { longExcerpt } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
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

const ERROR_PREFIX = 'Error: ';

/** What is left of an error that was turned into a text without its message. */
const NO_MESSAGE = /^\s*(?:\[object \w+\]|undefined|null|None|nil|<nil>)?[\s.]*$/;

/** What callbacks contain: texts, and segments for people. */
export const contentRules = defineRules({
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
