import { countEnds, missingResultsText } from '../../events/call-ends.js';
import { idOf } from '../../events/judge-callback.js';
import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import type { Callback } from '../../protocol/callbacks.js';
import { addresseeIn } from '../../protocol/invocation.js';
import { chooseSegment, knownTypes } from '../../segments/segments.js';
import { excerpt, formatDuration, joinFirst, truncateBeforeToken } from '../../util/text.js';
import { callbackEnding } from '../../util/url.js';
import { visibleLine } from '../../util/visible.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import { urlDifference } from '../callback-url.js';
import type { Evidence } from '../evidence.js';
import {
  cutOff,
  defineRules,
  doubtful,
  inconclusive,
  met,
  type Observation,
  type Observed,
  requestSpot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { CALLBACK_RULES, faultLine, nullRemark, resultSpots, timeoutAdvice } from '../rule-details.js';
import { clockTime } from '../times.js';

/** How a tool delivers its callbacks. */
export const deliveryRules = defineRules({
  'TOOL-ALWAYS': {
    level: 'MUST',
    statement: 'ends every invocation with a tool_result, also after oauth or user_choice',
    advice: 'Send a result from every code path of the handler, including exceptions and timeouts.',
    resultPage: 'Every invocation MUST eventually produce either a tool_result or an oauth message.',
    masks: ['TOOL-ASYNC', ...CALLBACK_RULES, 'TOOL-CHOICE', 'TOOL-OAUTH'],
    absent: 'no acknowledged invocation could be followed to its end',
    observe: evidence => {
      const elsewhere = idsSentElsewhere(evidence);
      const isUnclear = unnamedStrays(evidence).length > 0;
      const isSentElsewhere = ({ strays, ending, invocation }: CallEvidence) =>
        strays.length > 0 || (ending.kind === 'silent' && (isUnclear || elsewhere.has(invocation?.id)));
      const judged = evidence.calls.filter(
        call => call.flaw === null && (call.ending.kind === 'result' || !isSentElsewhere(call)),
      );
      const results = { summary: countResults(judged), slowest: slowestLate(judged) };
      return [
        ...judged.map(call => judgeEnding(call, results, evidence)),
        ...judgeCallsWithoutEnding(judged, missingResultsText(countEnds(evidence.calls)) ?? ''),
      ];
    },
  },
  'TOOL-ONCE': {
    level: 'MUST',
    statement: 'sends one tool_result per call; the same result again is a retry',
    advice:
      'Remember which calls have a result: after it, send nothing but the same bytes, and that only until they are answered.',
    masks: ['TOOL-NORETRY'],
    absent: 'no result with the ids of its call was accepted',
    observe: ({ calls, until, isProbed, exit }) => {
      // The tool may send another result instead of a rejected one.
      const results = calls.map(call => call.results.filter(({ isRefused }) => !isRefused));
      const latest = results.reduce((last, [first]) => Math.max(last, first?.request.at ?? 0), 0);
      const watched = `watched for at least ${formatDuration(Math.max(0, until - latest))} after each result`;
      return results.map(([first, ...later]) => {
        if (!first) return null;
        const observation = judgeResults(first, later, watched);
        if (observation.kind !== 'met' || !isProbed || !exit) return observation;
        return cutOff('the server exited before a second result could come', first);
      });
    },
  },
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

/** Ids in callbacks that came to the URL of another call. */
function idsSentElsewhere({ calls }: Evidence): ReadonlySet<string | undefined> {
  const foreign = calls.flatMap(({ received, invocation }) =>
    received.map(({ message }) => idOf(message)).filter(id => id !== invocation?.id),
  );
  return new Set(foreign.filter(id => typeof id === 'string'));
}

/** The posts to a wrong address that name no call. */
function unnamedStrays({ calls, unmatchedCallbacks }: Evidence): readonly CallbackEvidence[] {
  const named = new Set(calls.flatMap(({ strays }) => strays));
  return unmatchedCallbacks.filter(post => post.isMisdirected && !named.has(post));
}

/** `0 of 12 calls got a result within 5s`: of the calls that ended in a result or in silence. */
function countResults(calls: readonly CallEvidence[]): string {
  const windows = calls.flatMap(({ ending }) => (ending.kind === 'silent' ? [ending.afterMs] : []));
  const results = calls.filter(({ ending }) => ending.kind === 'result').length;
  const total = windows.length + results;
  const longest = windows.reduce((most, ms) => Math.max(most, ms), 0);
  return `${results} of ${total} ${total === 1 ? 'call' : 'calls'} got a result within ${formatDuration(longest)}`;
}

/** How long results took that came after the caller had stopped waiting: of each operation the slowest, in ms. */
function slowestLate(calls: readonly CallEvidence[]): ReadonlyMap<string | undefined, number> {
  const slowest = new Map<string | undefined, number>();
  for (const { ending, timeout, attempts, invocation } of calls) {
    const accepted = attempts.find(({ status }) => status === 200);
    if (ending.kind !== 'result' || !timeout || !accepted) continue;
    const { seq, at } = ending.callback.request;
    const before = slowest.get(invocation?.operation) ?? 0;
    if (seq > timeout.seq) slowest.set(invocation?.operation, Math.max(before, at - accepted.latestAt));
  }
  return slowest;
}

/** What the results of all calls show. */
interface Results {
  readonly summary: string;
  readonly slowest: ReadonlyMap<string | undefined, number>;
}

function judgeEnding(call: CallEvidence, { summary, slowest }: Results, evidence: Evidence): Observed {
  const { toolCrash, exit } = evidence;
  const { attempts, ending } = call;
  const isCause = toolCrash !== null && attempts.includes(toolCrash.message);
  const about = attempts.flatMap(({ events }) => events);
  switch (ending.kind) {
    case 'result':
      return met(ending.callback);
    case 'open': // otherwise judged by `judgeCallsWithoutEnding`
    case 'cut-short':
      if (exit && attempts.some(({ request }) => exit.cause.includes(request.seq)))
        return violatedIfComplete(exit.message, [...attempts, { events: [exit.seq] }], {
          expected: 'a tool_result',
          about,
        });
      return ending.kind === 'open' ? null : unrecorded('the tool crashed before a call ended', attempts);
    case 'silent': {
      const details = { expected: 'a tool_result', about };
      const slowestMs = slowest.get(call.invocation?.operation);
      if (!isCause && slowestMs !== undefined) return judgeSlow(ending.afterMs, slowestMs, call, evidence);
      if (!isCause)
        return violatedIfComplete(`${summary}${timeoutAdvice(call, evidence)}`, attempts, details);
      const what = `no tool_result within ${formatDuration(ending.afterMs)}, and the tool was unreachable`;
      return violatedIfComplete(what, [...attempts, toolCrash.later], details);
    }
    default:
      return null; // judged by `judgeCallsWithoutEnding`, TOOL-CHOICE, TOOL-OAUTH, TOOL-POST and TOOL-ACK
  }
}

/** Other results of the operation came late: nothing shows that this one would not have come too. */
function judgeSlow(afterMs: number, slowestMs: number, call: CallEvidence, evidence: Evidence): Observation {
  const what = `no result within ${formatDuration(afterMs)}, but others of this operation came after up to ${formatDuration(slowestMs)}`;
  const advice = evidence.isLive
    ? 'Check again with a --probe-timeout that is longer than the tool takes.'
    : LONGER;
  return unrecorded(`${what}${timeoutAdvice(call, evidence)}`, call.attempts, { advice });
}

const LONGER =
  'Check the tool itself (protocol-cli check <url>), or record it again and let the runtime wait longer.';

const PENDING = { name: 'still pending at the end', advice: LONGER };

/**
 * Calls that the recording does not follow to their end. The protocol has no time limit, so the tool may have needed more time than the
 * runtime gave it. After a cancel it may stay silent; but if no call at all has a result, nothing shows that the tool ever sends one.
 * @param what how many calls have no result
 */
function judgeCallsWithoutEnding(judged: readonly CallEvidence[], what: string): readonly Observation[] {
  const hasResult = judged.some(({ ending }) => ending.kind === 'result');
  const pending = judged.filter(({ ending }) => ending.kind === 'open');
  const ended = judged.flatMap(endByRuntime);
  const canceled = ended.filter(({ isCanceled }) => isCanceled);
  const closed = ended.filter(({ isCanceled }) => !isCanceled);
  const named = (how: string, ends: readonly RuntimeEnd[]) => ({
    name: `${how} by the runtime after ${rangeText(ends.map(({ waitedMs }) => waitedMs))}`,
    advice: LONGER,
  });
  const observeCanceled = hasResult ? inconclusive : unrecorded;
  return [
    ...closed.map(({ proof }) => unrecorded(what, proof, named('closed', closed))),
    ...canceled.map(({ proof }) => observeCanceled(what, proof, named('canceled', canceled))),
    ...pending.map(({ attempts }) => unrecorded(what, attempts, PENDING)),
  ];
}

/** How a runtime ended a call that it did not get a result for. */
interface RuntimeEnd {
  readonly proof: readonly RoundTrip[];
  /** Otherwise its thread was closed. */
  readonly isCanceled: boolean;
  /** Since the acknowledgement. */
  readonly waitedMs: number;
}

function endByRuntime(call: CallEvidence): RuntimeEnd[] {
  const { attempts, cancels, closes, ending } = call;
  if (ending.kind !== 'called-off' || call.isCanceledHere || call.isProbed) return [];
  const accepted = attempts.find(({ status }) => status === 200);
  const [notice] = [...cancels, ...closes].toSorted((one, other) => one.request.seq - other.request.seq);
  if (!accepted || !notice) return [];
  const waitedMs = clockTime(notice.request) - clockTime(accepted.end ?? accepted.request);
  return [{ proof: [accepted, notice], isCanceled: cancels.includes(notice), waitedMs }];
}

function rangeText(times: readonly number[]): string {
  const [least, most] = [Math.min(...times), Math.max(...times)].map(formatDuration);
  return least === most ? `${least}` : `${least} to ${most}`;
}

function judgeResults(
  first: CallbackEvidence,
  later: readonly CallbackEvidence[],
  watched: string,
): Observation {
  const other = later.find(callback => !callback.equals(first));
  if (!other) return met([first, ...later], watched);
  if (first.isFailed) return doubtful('a different result came after a failed delivery', [first, other]);
  return violated('a second, different tool_result came', [first, other], {
    expected: 'one tool_result',
    actual: 'two different ones',
    spots: [requestSpot(first, 'text'), requestSpot(other, 'text')],
  });
}

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
function judgeStrays(evidence: Evidence, strays: readonly CallbackEvidence[]): Observed {
  const posts = unnamedStrays(evidence);
  if (posts.length === 0) return null;
  const name = joinFirst([...new Set(posts.map(({ request }) => visibleLine(request.url)))], 3);
  const what = straysText(strays);
  if (posts.length < strays.length) return violated(what, posts, { name });
  return evidence.calls.some(({ callbacks, ending }) => callbacks.length === 0 && ending.kind === 'silent')
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
