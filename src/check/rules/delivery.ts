import { isBodyLost } from '../../events/round-trips.js';
import type { Callback } from '../../protocol/callbacks.js';
import { addresseeIn } from '../../protocol/invocation.js';
import { chooseSegment, knownTypes } from '../../segments/segments.js';
import { excerpt, joinFirst, truncateBeforeToken } from '../../util/text.js';
import { callbackEnding } from '../../util/url.js';
import { visibleLine } from '../../util/visible.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import { urlDifference } from '../callback-url.js';
import type { Evidence } from '../evidence.js';
import {
  defineRules,
  doubtful,
  met,
  type Observation,
  type Observed,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { CALLBACK_RULES, faultLine, nullRemark, resultSpots } from '../rule-details.js';

/** How a tool POSTs its callbacks. */
export const deliveryRules = defineRules({
  'TOOL-OPAQUE': {
    level: 'MUST',
    statement: 'uses the callback URL exactly as given',
    advice: 'POST to callback_url exactly as received: do not parse it, normalize it or append to it.',
    invocationPage: 'The URL where the tool MUST POST results.',
    masks: ['TOOL-ASYNC', 'TOOL-ALWAYS', ...CALLBACK_RULES],
    absent: 'no callback came to a callback URL',
    observe: evidence => {
      const { calls, unmatchedCallbacks } = evidence;
      const strays = unmatchedCallbacks.filter(({ isMisdirected }) => isMisdirected);
      return [calls.map(call => judgeUrl(call, strays)), judgeStrays(evidence, strays)];
    },
  },
  'TOOL-POST': {
    level: 'MUST',
    statement: 'POSTs callbacks as application/json in UTF-8, valid against the schema of their type',
    advice:
      'POST with Content-Type: application/json, and validate the body against the schema of its type first.',
    resultPage: 'The tool MUST send a tool result as an HTTP POST with Content-Type: application/json.',
    masks: ['TOOL-ALWAYS', ...CALLBACK_RULES],
    absent: 'no callback came to a callback URL',
    observe: ({ calls }) =>
      calls.map(({ reading, callbacks }) => {
        // A tool cannot send back ids that the invocation does not have.
        const ignored = ['$.group_id:', '$.id:'].filter(
          name => !reading.ok && reading.faults.some(fault => fault.startsWith(name)),
        );
        return callbacks.map(callback => judgePost(callback, ignored));
      }),
  },
});

/** Maximum length of a quoted header, refusal or URL, in characters. */
const MAX_LENGTH = 300;

/** @param strays the posts to a wrong address of all calls */
function judgeUrl(call: CallEvidence, strays: readonly CallbackEvidence[]): Observed {
  const elsewhere = call.strays.map(stray => {
    const name = visibleLine(stray.request.url);
    const expected = call.isProbed ? '/callback/<token>' : 'the callback_url of the call';
    return violated(straysText(strays), stray, { name, expected, actual: name });
  });
  const given = addresseeIn(call.reading)?.callback_url;
  if (given === undefined) return elsewhere;
  const arrived = call.callbacks.map(callback => {
    const { url: used } = callback.request;
    const difference = urlDifference(given, used);
    if (difference === null) return met(callback);
    const what = `a callback went to a URL other than the given one: ${difference.what}`;
    return violated(what, callback, {
      ...(call.isProbed && endingsOf(given, used)),
      ...(difference.isDecoded && { advice: DECODED_ADVICE }),
    });
  });
  return [elsewhere, arrived];
}

const DECODED_ADVICE =
  'POST to callback_url without decoding it; with aiohttp, pass yarl.URL(url, encoded=True).';

/** What the URLs have after the token of a probe: only the token is secret. */
function endingsOf(given: string, used: string): Pick<Observation, 'expected' | 'actual'> {
  const shown = (url: string) =>
    truncateBeforeToken(visibleLine(`/callback/<token>${callbackEnding(url) ?? ''}`), MAX_LENGTH);
  return { expected: shown(given), actual: shown(used) };
}

/** Anyone may post to a wrong address. That the tool did is shown by another post that names a call, or by a call without a callback. */
function judgeStrays(
  { calls, unnamedStrays: posts }: Evidence,
  strays: readonly CallbackEvidence[],
): Observed {
  if (posts.length === 0) return null;
  const name = joinFirst([...new Set(posts.map(({ request }) => visibleLine(request.url)))], 3);
  const what = straysText(strays);
  if (posts.length < strays.length) return violated(what, posts, { name });
  return calls.some(({ callbacks, ending }) => callbacks.length === 0 && ending.kind === 'silent')
    ? violatedIfComplete(`${what}, and a call got no callback`, posts, { name })
    : doubtful(what, posts, { name });
}

function straysText([first, ...others]: readonly CallbackEvidence[]): string {
  const whose =
    others.length === 0 ? `a ${first?.typeName ?? 'callback'} was` : `${others.length + 1} callbacks were`;
  return `${whose} posted to a wrong address`;
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

/** Statuses with which a listener rejects an invalid request. */
const REQUEST_ERRORS = [400, 405, 411, 415];

function judgePost(callback: CallbackEvidence, ignored: readonly string[]): Observed {
  const { request, response, reading } = callback;
  const { method, headers } = request;
  if (method !== 'POST')
    return violated(`a ${excerpt(method)} came`, callback, { expected: 'POST', actual: method });
  if (response?.refusal !== undefined && !reading) {
    const { status, refusal } = response;
    if (status < 400 || status === 408 || status >= 500) return null;
    const judged = REQUEST_ERRORS.includes(status) ? violated : doubtful;
    return judged(
      `a callback was refused with ${status}: ${truncateBeforeToken(visibleLine(refusal), MAX_LENGTH)}`,
      callback,
    );
  }
  const type = headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type.trim())) {
    const actual = type === '' ? 'no content type' : truncateBeforeToken(visibleLine(type), MAX_LENGTH);
    return violated('a callback is not application/json', callback, { expected: 'application/json', actual });
  }
  return judgePostBody(callback, ignored);
}

function judgePostBody(callback: CallbackEvidence, ignored: readonly string[]): Observed {
  const { request, reading } = callback;
  if (isBodyLost(request)) return unrecorded('the body of a callback was not recorded', callback);
  if (!reading) return violated('a callback has no body', callback);
  if (!reading.ok) {
    const faults = reading.faults.filter(fault => !ignored.some(name => fault.startsWith(name)));
    return faults.length > 0
      ? violated('invalid callback', callback, { faults: faults.map(faultLine) })
      : null;
  }
  const malformed = malformedSegments(reading.message);
  if (malformed.length > 0)
    return violated('invalid callback', callback, { faults: malformed.map(faultLine) });
  const warnings = reading.warnings.filter(({ id }) => id === 'TOOL-POST').map(({ message }) => message);
  const { message } = reading;
  const isResult = message.type === 'tool_result';
  const remarks = [...warnings, ...nullRemark(reading.nulls, isResult ? 'result' : 'message')];
  if (remarks.length === 0) return met(callback);
  const isContentAlone = isResult && message.text === undefined;
  return doubtful(visibleLine(remarks.join('; ')), callback, {
    ...(isContentAlone && { spots: resultSpots(callback) }),
  });
}

/** Segments of known types whose content breaks the format of the type; TOOL-DIFF covers diffs. */
function malformedSegments(message: Callback): readonly string[] {
  if (message.type !== 'tool_result') return [];
  const { warnings } = chooseSegment(message.display_as, knownTypes);
  return warnings.filter(({ id }) => id === 'TOOL-POST').map(warning => warning.message);
}
