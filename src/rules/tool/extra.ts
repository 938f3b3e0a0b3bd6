import { invocationSchema } from '../../protocol/invocation.js';
import { formatDuration } from '../../text/format-duration.js';
import { isRecord } from '../../text/is-record.js';
import { endingOf } from '../evidence/ending.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { statusOf } from '../evidence/leg.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { broken, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

const KNOWN: ReadonlySet<string> = new Set(Object.keys(invocationSchema.shape));

/** TOOL-EXTRA: a call with fields that nobody knows ends as the same call does without them. */
export const ignoresExtraFields: Rule = {
  id: 'TOOL-EXTRA',
  masks: ['TOOL-ACK'],
  absent: 'no well-formed invocation had fields beyond those of the protocol',
  observe: evidence => {
    const sound = evidence.calls.filter(call => unacceptable(call, evidence) === null);
    return sound.filter(hasExtraFields).flatMap(call => onCall(call, sound));
  },
};

function hasExtraFields({ attempts }: CallEvidence): boolean {
  const json = attempts[0]?.request.body?.json;
  return json?.ok === true && isRecord(json.value) && Object.keys(json.value).some(name => !KNOWN.has(name));
}

function onCall(call: CallEvidence, sound: Evidence['calls']): readonly Observation[] {
  const ending = endingOf(call);
  switch (ending.kind) {
    case 'asked':
      return [held([...call.attempts, ending.callback])];
    case 'result':
      return ending.isError ? [onError(call, sound)] : [held([...call.attempts, ending.callback])];
    case 'refused':
      return [onRefused(call, ending.status, sound)];
    case 'silent':
      return [broken(`it was dropped: nothing within ${formatDuration(ending.afterMs)}`, call.attempts)];
    case 'called-off':
      return [];
    default:
      return [unseen('nothing that could be judged came of it', [...call.attempts, ...call.callbacks])];
  }
}

function onError(call: CallEvidence, sound: Evidence['calls']): Observation {
  const others = alike(call, sound).map(endingOf);
  const legs = [...call.attempts, ...call.callbacks.slice(0, 1)];
  if (others.some(each => each.kind === 'result' && !each.isError))
    return broken('it ended in an error, and without the extra fields in none', legs);
  return others.some(({ kind }) => kind === 'result')
    ? held(legs)
    : unseen('it ended in an error, and there is no call without extra fields to compare it with', legs);
}

function onRefused(call: CallEvidence, status: number, sound: Evidence['calls']): Observation {
  const isUsual = alike(call, sound).some(({ attempts }) => attempts.some(each => statusOf(each) === status));
  return isUsual
    ? held(call.attempts, `answered ${status}, as without them`)
    : broken(`it was answered ${status}`, call.attempts, { expected: '200', actual: String(status) });
}

/** Calls of the same operation without extra fields. */
function alike({ reading }: CallEvidence, sound: Evidence['calls']): Evidence['calls'] {
  return sound.filter(
    other =>
      reading.ok &&
      other.reading.ok &&
      other.reading.invocation.operation === reading.invocation.operation &&
      !hasExtraFields(other),
  );
}
