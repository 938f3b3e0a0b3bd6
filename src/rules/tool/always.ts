import { idOf } from '../../exchange/judge.js';
import { formatDuration } from '../../text/format-duration.js';
import { endingOf } from '../evidence/ending.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { told } from '../evidence/messages.js';
import { broken, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { OF_CALLBACKS } from './shared/follow-ups.js';

/**
 * TOOL-ALWAYS: what was acknowledged ends in a result. What was asked of a person, and how it went on, is of TOOL-CHOICE and
 * TOOL-OAUTH; what came but could not be read, or went to another call, is no dropped call.
 */
export const dropsNothing: Rule = {
  id: 'TOOL-ALWAYS',
  masks: ['TOOL-ASYNC', ...OF_CALLBACKS, 'TOOL-CHOICE', 'TOOL-OAUTH'],
  absent: 'no acknowledged invocation was waited for',
  observe: evidence => {
    const elsewhere = namedElsewhere(evidence);
    return evidence.calls.flatMap(call => (call.reading.ok ? onCall(call, elsewhere) : []));
  },
};

function onCall(call: CallEvidence, elsewhere: ReadonlySet<string>): readonly Observation[] {
  const ending = endingOf(call);
  if (ending.kind === 'result') return [held([ending.callback])];
  if (ending.kind === 'open')
    return [unseen('a call was still pending when the transcript ended', call.attempts)];
  if (ending.kind !== 'silent' || elsewhere.has(idIn(call))) return [];
  const window = formatDuration(ending.afterMs);
  return [
    broken(`no tool_result within ${window}`, call.attempts, {
      expected: 'a tool_result',
      actual: `nothing within ${window}`,
    }),
  ];
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
