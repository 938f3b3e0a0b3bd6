import { withoutResultText } from '../../events/call-ends.js';
import { idOf } from '../../events/judge-callback.js';
import type { RoundTrip } from '../../events/round-trips.js';
import { formatDuration } from '../../util/text.js';
import type { CallEvidence, Ending } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import type { Evidence } from '../evidence.js';
import {
  type Details,
  defineRules,
  doubtful,
  inconclusive,
  interrupted,
  met,
  type Observation,
  type Observed,
  requestSpot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { CALLBACK_RULES, timeoutAdvice } from '../rule-details.js';
import { clockTime, ranTogether } from '../times.js';

/** How a tool ends its calls: with a result, and with only one. */
export const endingRules = defineRules({
  'TOOL-ALWAYS': {
    level: 'MUST',
    statement: 'ends every invocation with a tool_result, also after oauth or user_choice',
    advice: 'Send a result from every code path of the handler, including exceptions and timeouts.',
    resultPage: 'Every invocation MUST eventually produce either a tool_result or an oauth message.',
    masks: ['TOOL-ASYNC', ...CALLBACK_RULES, 'TOOL-CHOICE', 'TOOL-OAUTH'],
    absent: 'no acknowledged invocation could be followed to its end',
    observe: evidence => Object.values(judgeByEnding(evidence)),
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
      const open = calls.filter(({ ending, callbacks }) => ending.kind === 'open' && callbacks.length === 0);
      return calls.map((call, index) => {
        const [first, ...later] = results[index] ?? [];
        if (!first) return null;
        const isMixed = () => open.some(each => ranTogether(each, call));
        const observation = judgeResults(first, later, { watched, isMixed });
        if (observation.kind !== 'met' || !isProbed || !exit) return observation;
        return interrupted('the server exited before a second result could come', first);
      });
    },
  },
});

/** A call that ended in this way. */
type EndedCall<Kind extends Ending['kind']> = CallEvidence & {
  readonly ending: Extract<Ending, { readonly kind: Kind }>;
};

/** What TOOL-ALWAYS observes of the calls that ended in each way; null if other rules judge them. */
function judgeByEnding(evidence: Evidence) {
  const judged = callsToJudge(evidence);
  const endedBy = <Kind extends Ending['kind']>(kind: Kind) =>
    judged.filter((call): call is EndedCall<Kind> => call.ending.kind === kind);
  const results = endedBy('result');
  const open = endedBy('open');
  const calledOff = endedBy('called-off');
  const missing = withoutResultText(open.length + calledOff.length, evidence.calls.length);
  return {
    result: results.map(({ ending }) => met(ending.callback)),
    silent: judgeSilent(endedBy('silent'), results, evidence),
    interrupted: endedBy('interrupted').map(
      call => judgeExit(call, evidence) ?? unrecorded('the tool crashed before a call ended', call.attempts),
    ),
    'called-off': judgeCalledOff(calledOff, missing, results.length > 0),
    open: open.map(call => [
      judgeExit(call, evidence),
      unrecorded(missing, call.attempts, {
        name: 'still pending at the end',
        advice: LONGER,
      }),
    ]),
    asked: null, // TOOL-CHOICE, TOOL-OAUTH
    unreadable: null, // TOOL-POST
    refused: null, // TOOL-ACK
    unanswered: null, // TOOL-ACK
  } satisfies Record<Ending['kind'], Observed>;
}

/** The valid calls, except those without a result whose callbacks may have gone elsewhere: TOOL-OPAQUE and TOOL-ISOLATE judge these. */
function callsToJudge({ calls, unnamedStrays }: Evidence): readonly CallEvidence[] {
  const elsewhere = idsSentElsewhere(calls);
  const isSentElsewhere = ({ strays, ending, invocation }: CallEvidence) =>
    strays.length > 0 ||
    (ending.kind === 'silent' && (unnamedStrays.length > 0 || elsewhere.has(invocation?.id)));
  return calls.filter(
    call => call.flaw === null && (call.ending.kind === 'result' || !isSentElsewhere(call)),
  );
}

/** Ids in callbacks that came to the URL of another call. */
function idsSentElsewhere(calls: readonly CallEvidence[]): ReadonlySet<string | undefined> {
  const foreign = calls.flatMap(({ received, invocation }) =>
    received.map(({ message }) => idOf(message)).filter(id => id !== invocation?.id),
  );
  return new Set(foreign.filter(id => typeof id === 'string'));
}

/** Judges the calls whose caller waited in vain. */
function judgeSilent(
  silent: readonly EndedCall<'silent'>[],
  results: readonly EndedCall<'result'>[],
  evidence: Evidence,
): Observed {
  const { toolCrash } = evidence;
  const counts = countResults(silent, results);
  const slowest = slowestLate(results);
  return silent.map(call => {
    const { attempts, ending, invocation } = call;
    const within = `within ${formatDuration(ending.afterMs)}`;
    if (toolCrash && attempts.includes(toolCrash.message)) {
      const what = `no tool_result ${within}, and the tool was unreachable`;
      return violatedIfComplete(what, [...attempts, toolCrash.later], missingResult(call));
    }
    const advice = timeoutAdvice(call, evidence);
    const slowestMs = slowest.get(invocation?.operation);
    if (slowestMs === undefined)
      return violatedIfComplete(`${counts}${advice}`, attempts, missingResult(call));
    // Nothing shows that this result would not have come, too.
    const what = `no result ${within}, but others of this operation came after up to ${formatDuration(slowestMs)}`;
    return unrecorded(`${what}${advice}`, attempts, { advice: evidence.isLive ? LONGER_PROBE : LONGER });
  });
}

function missingResult({ attempts }: CallEvidence): Details {
  return { expected: 'a tool_result', about: attempts.flatMap(({ events }) => events) };
}

const LONGER_PROBE = 'Check again with a --probe-timeout that is longer than the tool takes.';

const LONGER =
  'Check the tool itself (protocol-cli check <url>), or record it again and let the runtime wait longer.';

/** `0 of 12 calls got a result within 5s` */
function countResults(
  silent: readonly EndedCall<'silent'>[],
  { length: results }: readonly EndedCall<'result'>[],
): string {
  const total = silent.length + results;
  const longest = silent.reduce((most, { ending }) => Math.max(most, ending.afterMs), 0);
  return `${results} of ${total} ${total === 1 ? 'call' : 'calls'} got a result within ${formatDuration(longest)}`;
}

/** How long results took that came after the caller had stopped waiting: of each operation the slowest, in ms. */
function slowestLate(results: readonly EndedCall<'result'>[]): ReadonlyMap<string | undefined, number> {
  const slowest = new Map<string | undefined, number>();
  for (const { ending, timeout, attempts, invocation } of results) {
    const accepted = attempts.find(({ status }) => status === 200);
    if (!timeout || !accepted) continue;
    const { seq, at } = ending.callback.request;
    const before = slowest.get(invocation?.operation) ?? 0;
    if (seq > timeout.seq) slowest.set(invocation?.operation, Math.max(before, at - accepted.latestAt));
  }
  return slowest;
}

/** The exit of the tool, if the call is its cause. */
function judgeExit(call: CallEvidence, { exit }: Evidence): Observation | null {
  const { attempts } = call;
  if (!exit || !attempts.some(({ request }) => exit.cause.includes(request.seq))) return null;
  return violatedIfComplete(exit.message, [...attempts, { events: [exit.seq] }], missingResult(call));
}

/**
 * Judges the calls that the runtime ended. The protocol has no time limit, so the tool may have needed more time than the runtime gave it.
 * After a cancel it may stay silent; but if no call at all has a result, nothing shows that the tool ever sends one.
 * @param missing how many calls have no result
 */
function judgeCalledOff(
  calls: readonly EndedCall<'called-off'>[],
  missing: string,
  hasResults: boolean,
): Observed {
  const ended = calls.flatMap(endByRuntime);
  const canceled = ended.filter(({ isCanceled }) => isCanceled);
  const closed = ended.filter(({ isCanceled }) => !isCanceled);
  const named = (how: string, ends: readonly RuntimeEnd[]) => ({
    name: `${how} by the runtime after ${rangeText(ends.map(({ waitedMs }) => waitedMs))}`,
    advice: LONGER,
  });
  const observeCanceled = hasResults ? inconclusive : unrecorded;
  return [
    closed.map(({ proof }) => unrecorded(missing, proof, named('closed', closed))),
    canceled.map(({ proof }) => observeCanceled(missing, proof, named('canceled', canceled))),
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
  const { attempts, cancels, closes } = call;
  if (call.isCanceledHere || call.isProbed) return [];
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

const MIXED_ADVICE =
  'See which of the two is the result of the other call: store id, group_id and callback_url per call, never in a variable that calls share.';

interface Around {
  /** For how long results were watched, in words. */
  readonly watched: string;
  /** Whether a call that ran at the same time has no result yet: the second result may be its own. */
  readonly isMixed: () => boolean;
}

function judgeResults(
  first: CallbackEvidence,
  later: readonly CallbackEvidence[],
  { watched, isMixed }: Around,
): Observation {
  const other = later.find(callback => !callback.equals(first));
  if (!other) return met([first, ...later], watched);
  if (first.isFailed) return doubtful('a different result came after a failed delivery', [first, other]);
  const what = 'a second, different tool_result came';
  const details = {
    expected: 'one tool_result',
    actual: 'two different ones',
    spots: [requestSpot(first, 'text'), requestSpot(other, 'text')],
  };
  return isMixed()
    ? violated(`${what}, and none to a call that ran at the same time`, [first, other], {
        ...details,
        advice: MIXED_ADVICE,
      })
    : violated(what, [first, other], details);
}
