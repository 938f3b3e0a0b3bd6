import { cut } from '../../text/cut.js';
import { excerpt } from '../../text/excerpt.js';
import { visibleLine } from '../../text/visible.js';
import type { CallbackEvidence, CallEvidence } from '../evidence/evidence.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { broken, doubtful, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { nullRemark, withFaults } from './shared/faults.js';
import { OF_CALLBACKS } from './shared/follow-ups.js';

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;
/** Characters of a header, or of a refusal. */
const MOST = 300;

/** TOOL-POST: a POST of JSON in UTF-8, as the schema of its type wants it. */
export const postsJson: Rule = {
  id: 'TOOL-POST',
  masks: ['TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no callback came',
  observe: ({ calls }) =>
    calls.flatMap(call => {
      const excused = missingIn(call);
      return call.callbacks.flatMap(callback => onCallback(callback, excused));
    }),
};

/** The names that the invocation lacks itself: nobody could give them back. */
function missingIn({ reading }: CallEvidence): readonly string[] {
  if (reading.ok) return [];
  return NAMES.filter(name => reading.faults.some(fault => fault.startsWith(name)));
}

const NAMES = ['$.group_id:', '$.id:'];

function onCallback(callback: CallbackEvidence, excused: readonly string[]): readonly Observation[] {
  const { request, response, reading } = callback;
  if (request.method !== 'POST')
    return [
      broken(`a ${excerpt(request.method)} came`, [callback], { expected: 'POST', actual: request.method }),
    ];
  if (response?.refusal !== undefined && !reading)
    return onRefusal(callback, response.status, response.refusal);
  const type = request.headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type.trim())) {
    const actual = type === '' ? 'no content type' : cut(visibleLine(type), MOST);
    return [
      broken('a callback is not application/json', [callback], { expected: 'application/json', actual }),
    ];
  }
  return onBody(callback, excused);
}

/** A listener may have reasons of its own; what is wrong with the request itself is the tool's fault. */
function onRefusal(callback: CallbackEvidence, status: number, refusal: string): readonly Observation[] {
  if (status < 400 || status === 408 || status >= 500) return [];
  const tell = [400, 405, 411, 415].includes(status) ? broken : doubtful;
  return [tell(`a callback was refused with ${status}: ${cut(visibleLine(refusal), MOST)}`, [callback])];
}

function onBody(callback: CallbackEvidence, excused: readonly string[]): readonly Observation[] {
  const { reading, request } = callback;
  if (isBodyLost(request)) return [unseen('the body of a callback was not kept', [callback])];
  if (!reading) return [broken('a callback has no body', [callback])];
  if (!reading.ok) {
    const faults = reading.faults.filter(fault => !excused.some(name => fault.startsWith(name)));
    if (faults.length === 0) return [];
    return [broken('no callback', [callback], withFaults(faults))];
  }
  const remarks = [
    ...reading.warnings.filter(({ id }) => id === 'TOOL-POST').map(({ message }) => message),
    ...nullRemark(reading.nulls),
  ];
  return [remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), [callback]) : held([callback])];
}
