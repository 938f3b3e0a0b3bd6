import { idOf } from '../../exchange/judge.js';
import { excerpt } from '../../text/excerpt.js';
import { formatDuration } from '../../text/format-duration.js';
import { endingOf } from '../evidence/ending.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { type Gone, goneIn } from '../evidence/gone.js';
import { endedAt, eventsOf, statusOf } from '../evidence/leg.js';
import { told } from '../evidence/messages.js';
import { vainWait } from '../evidence/windows.js';
import { held, lacking, type Observation, scant, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { OF_CALLBACKS } from './shared/follow-ups.js';
import { ifItTakesLonger } from './shared/window.js';

/**
 * TOOL-ALWAYS: what was acknowledged ends in a result, however long that takes (seed 004): only a tool that is gone has dropped it. What was asked of a person, and how it went on, is of TOOL-CHOICE and
 * TOOL-OAUTH; what came but could not be read, or went to another call, is no dropped call.
 */
export const dropsNothing: Rule = {
  id: 'TOOL-ALWAYS',
  masks: ['TOOL-ASYNC', ...OF_CALLBACKS, 'TOOL-CHOICE', 'TOOL-OAUTH'],
  absent: 'no acknowledged invocation was waited for',
  observe: evidence => {
    const elsewhere = namedElsewhere(evidence);
    const gone = goneIn(evidence);
    return evidence.calls.flatMap(call => (call.reading.ok ? onCall(call, elsewhere, gone) : []));
  },
};

function onCall(
  call: CallEvidence,
  elsewhere: ReadonlySet<string>,
  gone: Gone | null,
): readonly Observation[] {
  const ending = endingOf(call);
  if (ending.kind === 'result') return [held([ending.callback])];
  if (ending.kind === 'open')
    return [unseen('a call was still pending when the transcript ended', call.attempts)];
  if (ending.kind === 'called-off') return onCalledOff(call);
  if (ending.kind !== 'silent' || elsewhere.has(idIn(call))) return [];
  const what = `no tool_result within ${formatDuration(ending.afterMs)}`;
  const lost = gone?.since.find(({ request }) => request.seq < (vainWait(call)?.seq ?? 0));
  const about = call.attempts.flatMap(eventsOf);
  return lost
    ? [
        lacking(`${what}, and the tool was gone`, [...call.attempts, lost], {
          expected: 'a tool_result',
          about,
        }),
      ]
    : [unseen(`${what}: ${ifItTakesLonger(call)}`, call.attempts)];
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
