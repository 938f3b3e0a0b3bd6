import { idOf } from '../../exchange/judge.js';
import { formatDuration } from '../../text/format-duration.js';
import { endingOf } from '../evidence/ending.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { type Gone, goneIn } from '../evidence/gone.js';
import { told } from '../evidence/messages.js';
import { vainWait } from '../evidence/windows.js';
import { held, lacking, type Observation, unseen } from '../observation.js';
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
  if (ending.kind !== 'silent' || elsewhere.has(idIn(call))) return [];
  const what = `no tool_result within ${formatDuration(ending.afterMs)}`;
  const lost = gone?.since.find(({ request }) => request.seq < (vainWait(call)?.seq ?? 0));
  return lost
    ? [lacking(`${what}, and the tool was gone`, [...call.attempts, lost], { expected: 'a tool_result' })]
    : [unseen(`${what}: ${ifItTakesLonger(call)}`, call.attempts)];
}

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
