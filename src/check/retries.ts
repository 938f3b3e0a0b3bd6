import type { EndEvent, RequestEvent } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import { formatDuration } from '../util/text.js';
import { doubtful, met, metWithNote, type Observation } from './rule.js';
import { clockTime } from './times.js';

/** Minimum number of pauses for a finding that they do not grow. */
const MIN_PAUSES = 3;

/** A pause grows if it is this many times longer than the first. */
const GROWTH = 1.25;

/** The pauses before the retries of a request, in ms. With the time in which the observer could not run, they are as long as they can be. */
export function pausesBetween(attempts: readonly RoundTrip[], isLongest = true): readonly number[] {
  const timeOf = (event: RequestEvent | EndEvent) => (isLongest ? clockTime(event) : event.at);
  return attempts.slice(1).map(({ request }, index) => {
    const { end = null, request: earlier = request } = attempts[index] ?? {};
    return Math.max(0, timeOf(request) - timeOf(end ?? earlier));
  });
}

/** Judges the pauses between attempts, of which there is more than one. @param isHasty whether the pauses are too short, however they grow */
export function judgeRetries(
  attempts: readonly RoundTrip[],
  isHasty: (pauses: readonly number[]) => boolean,
): Observation {
  const pauses = pausesBetween(attempts);
  const isRepeated = pauses.length > 1;
  const isGrowing = growsIn(pauses) || growsIn(pausesBetween(attempts, false)); // each pause may have been measured too long or too short
  const retries = pauses.length === 1 ? '1 retry' : `${pauses.length} retries`;
  const after = pauses
    .map(formatDuration)
    .join(', ')
    .replace(/, (\S+)$/, ' and $1');
  const what = `${retries}, after ${after}`;
  if ((isRepeated && isHasty(pauses)) || (pauses.length >= MIN_PAUSES && !isGrowing))
    return doubtful(`${what}: the pauses ${isGrowing ? 'are too short' : 'do not grow'}`, attempts);
  return isRepeated && !isGrowing
    ? metWithNote(`${what}: the pauses do not grow each time, which may be chance`, attempts)
    : met(attempts, what);
}

function growsIn([first = 0, ...others]: readonly number[]): boolean {
  return others.some(pause => pause > first * GROWTH);
}
