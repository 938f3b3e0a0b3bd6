import { formatDuration } from '../../text/format-duration.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { isFailedForNow, isRefused } from '../evidence/leg.js';
import { isOwn, saysTheSame, type Told, toldAs } from '../evidence/messages.js';
import { shortestWatch } from '../evidence/windows.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

type Result = Told<'tool_result'>;

/** TOOL-ONCE: one result; the same once more is a retry. */
export const endsOnce: Rule = {
  id: 'TOOL-ONCE',
  masks: ['TOOL-NORETRY'],
  absent: 'no call ended in a result',
  observe: evidence => {
    const ended = evidence.calls.map(resultsOf).filter(results => results.length > 0);
    const what = windowOf(ended, evidence);
    return ended.map(results => onResults(results, what));
  },
};

/** What was refused for good counts as none: the tool may say something better. */
function resultsOf(call: CallEvidence): readonly Result[] {
  const { reading } = call;
  if (!reading.ok) return [];
  return toldAs(call, 'tool_result').filter(
    ({ callback, message }) => isOwn(message, reading.invocation) && !isRefused(callback),
  );
}

function onResults([first, ...later]: readonly Result[], what: string): Observation {
  const other = first && later.find(({ callback }) => !saysTheSame(callback, first.callback));
  if (!first || !other)
    return held([...(first ? [first.callback] : []), ...later.map(each => each.callback)], what);
  const pair = [first.callback, other.callback];
  if (isFailedForNow(first.callback)) return doubtful('a result came again with other content', pair);
  return broken('a second tool_result with other content came', pair, {
    expected: 'one tool_result',
    actual: 'two different ones',
    spots: pair.map(leg => sent(leg, 'text')),
  });
}

/** For so long nothing more came of any call. */
function windowOf(ended: readonly (readonly Result[])[], evidence: Evidence): string {
  const moments = ended.flatMap(results => results.slice(0, 1).map(({ callback }) => callback.request.at));
  return `watched for at least ${formatDuration(shortestWatch(moments, evidence))} after each result`;
}
