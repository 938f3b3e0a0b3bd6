import { invocationSchema } from '../../protocol/invocation.js';
import { formatDuration } from '../../text/format-duration.js';
import { isRecord } from '../../text/is-record.js';
import { type Ending, endingOf } from '../evidence/ending.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { broken, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { ifItTakesLonger } from './shared/window.js';

/** What the calls of the same operation without extra fields came to. */
type Others = readonly Ending[];

const KNOWN: ReadonlySet<string> = new Set(Object.keys(invocationSchema.shape));

/** TOOL-EXTRA: a call with fields that nobody knows ends as the same call does without them. */
export const ignoresExtraFields: Rule = {
  id: 'TOOL-EXTRA',
  masks: ['TOOL-ACK'],
  absent: 'no well-formed invocation had fields beyond those of the protocol, and another to compare it with',
  observe: evidence => {
    const sound = evidence.calls.filter(call => unacceptable(call, evidence) === null);
    const plain = plainEndings(sound);
    return sound.filter(hasExtraFields).flatMap(call => onCall(call, plain.get(operationOf(call)) ?? []));
  },
};

function hasExtraFields({ attempts }: CallEvidence): boolean {
  const json = attempts[0]?.request.body?.json;
  return json?.ok === true && isRecord(json.value) && Object.keys(json.value).some(name => !KNOWN.has(name));
}

function onCall(call: CallEvidence, others: Others): readonly Observation[] {
  const ending = endingOf(call);
  switch (ending.kind) {
    case 'asked':
      return [held([...call.attempts, ending.callback])];
    case 'result':
      return ending.isError ? onError(call, others) : [held([...call.attempts, ending.callback])];
    case 'refused':
      return [onRefused(call, ending.status, others)];
    case 'silent':
      return [onSilent(call, ending.afterMs, others)];
    case 'called-off':
      return [];
    default:
      return [unseen('nothing that could be judged came of it', [...call.attempts, ...call.callbacks])];
  }
}

/** What has nothing to be compared with says nothing: whatever failed may fail without them, too. */
function onError(call: CallEvidence, others: Others): readonly Observation[] {
  const results = others.filter(({ kind }) => kind === 'result');
  const legs = [...call.attempts, ...call.callbacks.slice(0, 1)];
  if (results.some(each => each.kind === 'result' && !each.isError))
    return [broken('it ended in an error, and without the extra fields in none', legs)];
  return results.length > 0 ? [held(legs)] : [];
}

function onSilent(call: CallEvidence, afterMs: number, others: Others): Observation {
  const what = `nothing within ${formatDuration(afterMs)}`;
  return others.some(({ kind }) => kind === 'result')
    ? lacking(`it was dropped: ${what}`, call.attempts)
    : unseen(`${what}: ${ifItTakesLonger(call)}`, call.attempts);
}

function onRefused(call: CallEvidence, status: number, others: Others): Observation {
  const isUsual = others.some(each => each.kind === 'refused' && each.status === status);
  return isUsual
    ? held(call.attempts, `answered ${status}, as without them`)
    : broken(`it was answered ${status}`, call.attempts, { expected: '200', actual: String(status) });
}

/** By operation, what calls without extra fields came to. */
function plainEndings(sound: Evidence['calls']): ReadonlyMap<string, Others> {
  const endings = new Map<string, Ending[]>();
  for (const call of sound.filter(each => !hasExtraFields(each))) {
    const known = endings.get(operationOf(call)) ?? [];
    known.push(endingOf(call));
    endings.set(operationOf(call), known);
  }
  return endings;
}

function operationOf({ reading }: CallEvidence): string {
  return reading.ok ? reading.invocation.operation : '';
}
