import { idOf } from '../../exchange/judge.js';
import { excerpt } from '../../text/excerpt.js';
import { formatDuration } from '../../text/format-duration.js';
import { type Ending, endingOf } from '../evidence/ending.js';
import type { CallEvidence, Death, Evidence } from '../evidence/evidence.js';
import { endedAt, eventsOf, statusOf } from '../evidence/leg.js';
import { told } from '../evidence/messages.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { held, lacking, type Observation, scant, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { OF_CALLBACKS } from './shared/follow-ups.js';
import { ifItTakesLonger } from './shared/window.js';

/**
 * TOOL-ALWAYS: what was acknowledged ends in a result within the window. What was asked of a person, and how it went on, is of
 * TOOL-CHOICE and TOOL-OAUTH; what came but could not be read, or went to another call, is no dropped call; a refusal that did not come
 * is of TOOL-UNKNOWN-OP and TOOL-BAD-ARGS.
 */
export const dropsNothing: Rule = {
  id: 'TOOL-ALWAYS',
  masks: ['TOOL-ASYNC', ...OF_CALLBACKS, 'TOOL-CHOICE', 'TOOL-OAUTH'],
  absent: 'no acknowledged invocation was waited for',
  observe: evidence => {
    const elsewhere = namedElsewhere(evidence);
    const judged = evidence.calls
      .filter(call => call.reading.ok && unacceptable(call, evidence) === null)
      .map(call => ({ call, ending: endingOf(call) }))
      .filter(({ call, ending }) => ending.kind !== 'silent' || !elsewhere.has(idIn(call)));
    const silence = silenceIn(judged.map(({ ending }) => ending));
    return judged.flatMap(({ call, ending }) => onCall(call, ending, silence, evidence));
  },
};

/** `0 of 12 calls got a result within 5s`: of the calls that ended in a result, or in nothing. */
function silenceIn(endings: readonly Ending[]): string {
  const silent = endings.flatMap(ending => (ending.kind === 'silent' ? [ending.afterMs] : []));
  const results = endings.filter(({ kind }) => kind === 'result').length;
  const longest = silent.reduce((most, ms) => Math.max(most, ms), 0);
  const all = silent.length + results;
  return `${results} of ${all} ${all === 1 ? 'call' : 'calls'} got a result within ${formatDuration(longest)}`;
}

function onCall(
  call: CallEvidence,
  ending: Ending,
  silence: string,
  { death }: Evidence,
): readonly Observation[] {
  switch (ending.kind) {
    case 'result':
      return [held([ending.callback])];
    case 'open':
      return [unseen('a call was still pending when the transcript ended', call.attempts)];
    case 'cut-short':
      return [unseen('the tool died of something else before a call came to its end', call.attempts)];
    case 'called-off':
      return onCalledOff(call);
    case 'silent':
      return [onSilent(call, ending.afterMs, silence, death)];
    default:
      return [];
  }
}

function onSilent(call: CallEvidence, afterMs: number, silence: string, death: Death | null): Observation {
  const about = call.attempts.flatMap(eventsOf);
  const isKilled = death !== null && call.attempts.includes(death.message);
  if (!isKilled)
    return lacking(`${silence}: ${ifItTakesLonger(call)}`, call.attempts, {
      expected: 'a tool_result',
      about,
    });
  const what = `no tool_result within ${formatDuration(afterMs)}, and the tool was gone`;
  return lacking(what, [...call.attempts, death.later], { expected: 'a tool_result', about });
}

/** Who calls it off unasked may have waited in vain; what somebody has decided, or a check does, is known to be no wait. */
function onCalledOff({ reading, attempts, cancels, closes, decisions, plans }: CallEvidence): Observation[] {
  const taken = attempts.find(attempt => statusOf(attempt) === 200);
  const [notice] = [...cancels, ...closes].toSorted((one, other) => one.request.seq - other.request.seq);
  const isMeant = decisions.some(({ what }) => what === 'cancel') || plans.some(({ by }) => by === 'probe');
  if (!taken || !notice || !reading.ok || isMeant) return [];
  const waited = notice.request.at - (endedAt(taken) ?? notice.request.at);
  const how = cancels.includes(notice) ? 'cancelled' : 'closed';
  const what = `a call of ${excerpt(reading.invocation.operation)} was ${how} by the runtime after ${formatDuration(waited)} without a result`;
  return [waited < WAITED_MS ? scant(what, [taken, notice]) : unseen(what, [taken, notice])];
}

/** Who waits for less has hardly waited for a result. */
const WAITED_MS = 1_000;

function idIn({ reading }: CallEvidence): string {
  return reading.ok ? reading.invocation.id : '';
}

/** Ids that are named by what came to the URL of another call, or of none. */
function namedElsewhere({ calls, strays }: Evidence): ReadonlySet<string> {
  const named = calls.flatMap(call =>
    told(call).flatMap(({ message }) => (idOf(message) === idIn(call) ? [] : [idOf(message)])),
  );
  const astray = told({ callbacks: strays }).map(({ message }) => idOf(message));
  return new Set([...named, ...astray].filter(id => id !== undefined));
}
