import { ACK_SLOW_MS } from '../../../exchange/exchange.js';
import { formatDuration } from '../../../text/format-duration.js';
import type { Alone } from '../../evidence/alone.js';
import { isBehind } from '../../evidence/behind.js';
import type { CallbackEvidence } from '../../evidence/evidence.js';
import { endedAt, type Leg, waitedFor } from '../../evidence/leg.js';
import { broken, doubtful, held, heldBut, lacking, type Observation } from '../../observation.js';

/** A 200, the result that came of it, and how it went when the same was called alone, where that is known. */
interface Answered {
  readonly attempt: Leg;
  readonly result: CallbackEvidence | undefined;
  readonly alone: Alone | undefined;
  /** Whether whoever called it calls what is late again, alone. */
  readonly isRepeated: boolean;
}

const LATEST_MS = 1_000;
/** A machine is hardly so busy for longer. */
const BUSY_MS = 3_000;
/** A round trip over an ocean: what the toolset takes beyond that is hardly the way there. */
const FAR_MS = 150;
/** Less of what was taken off is not worth a word, in ms. */
const TELLING_MS = 1;

/** Whether a 200 came before the result, and soon. What is so alone, and not among many calls, may be the machine's doing, and may not. */
export function onAnswered(answered: Answered): Observation {
  const { attempt, result } = answered;
  return result && isBehind(attempt, result) ? outOfOrder(result, answered) : inTime(answered);
}

function outOfOrder(result: CallbackEvidence, { attempt, alone, isRepeated }: Answered): Observation {
  const behind = (endedAt(attempt) ?? 0) - (endedAt(result) ?? result.request.at);
  const what = 'the 200 came after the result';
  if (alone?.isInOrder && behind <= LATEST_MS)
    return doubtful(`${what} among many calls, and before it when ${whichAlone(alone)}`, [attempt, result]);
  return breach(isRepeated)(what, [attempt, result]);
}

function inTime({ attempt, alone, isRepeated }: Answered): Observation {
  const among = waitedFor(attempt);
  if (among <= ACK_SLOW_MS) return held([attempt]);
  const isTooLate = alone?.isOthers && alone.ms <= ACK_SLOW_MS && among > BUSY_MS;
  const ms = isTooLate ? among : Math.min(among, alone?.ms ?? among);
  if (alone && ms <= ACK_SLOW_MS) return inTimeAlone(among, attempt, alone);
  const took = `the 200 took ${formatDuration(ms)}${isTooLate ? '' : aloneWords(alone)}`;
  return ms > LATEST_MS
    ? breach(isRepeated)(took, [attempt], {
        expected: `within ${LATEST_MS} ms`,
        actual: formatDuration(ms),
      })
    : doubtful(`${took}, over ${ACK_SLOW_MS} ms`, [attempt]);
}

/** No machine is busy by rule: who is very late now and then, or as slow as its toolset, may wait for the work. */
function inTimeAlone(among: number, attempt: Leg, alone: Alone): Observation {
  const late = `the 200 took ${formatDuration(among)} among many calls, and in time when ${whichAlone(alone)}${takenOff(alone)}`;
  const isBarely = alone.offMs > FAR_MS && alone.ms + alone.offMs > ACK_SLOW_MS;
  return among > LATEST_MS || isBarely ? doubtful(late, [attempt]) : heldBut(late, [attempt]);
}

/** Where it was called again alone, and a part of that is lost, nobody knows. */
function breach(isRepeated: boolean): typeof broken {
  return isRepeated ? lacking : broken;
}

function aloneWords(alone: Alone | undefined): string {
  if (!alone) return '';
  return `, ${alone.isOthers ? 'as others did that were called alone' : 'called alone'}${takenOff(alone)}`;
}

function whichAlone({ isOthers }: Alone): string {
  return isOthers ? 'others were called alone' : 'the same was called alone';
}

function takenOff({ offMs }: Alone): string {
  return offMs < TELLING_MS ? '' : ` (not counting ${formatDuration(offMs)} that the toolset took as well)`;
}
