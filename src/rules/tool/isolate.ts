import { idOf } from '../../exchange/judge.js';
import type { Callback } from '../../protocol/callbacks/index.js';
import type { Invocation } from '../../protocol/invocation.js';
import { atOnce } from '../evidence/at-once.js';
import type { CallEvidence } from '../evidence/evidence.js';
import { type Told, told } from '../evidence/messages.js';
import { type Name, type Names, namesOf } from '../evidence/neighbours.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** TOOL-ISOLATE: what comes to the URL of a call names no other call. */
export const keepsCallsApart: Rule = {
  id: 'TOOL-ISOLATE',
  masks: [
    'TOOL-ALWAYS',
    'TOOL-ID',
    'TOOL-GROUP',
    'TOOL-CALLID',
    'TOOL-ONCE',
    'TOOL-RETRY',
    'TOOL-NORETRY',
    'TOOL-SUB',
  ],
  absent: 'no two calls ran at the same time',
  observe: ({ calls, until }) => {
    const names = namesOf(calls);
    const mixed = calls.flatMap(call => onCall(call, names));
    const together = atOnce(calls, until);
    const what = `${together.length} calls that overlapped`;
    return mixed.length > 0 ? mixed : together.map(call => held(call.callbacks, what));
  },
};

function onCall(call: CallEvidence, names: Names): readonly Observation[] {
  const { reading } = call;
  return reading.ok ? told(call).flatMap(each => onMessage(each, reading.invocation, names)) : [];
}

function onMessage(
  { callback, message }: Told,
  invocation: Invocation,
  names: Names,
): readonly Observation[] {
  const mixed = namesIn(message).filter(([name, value]) => names.isOthers(name, value, invocation));
  if (mixed.length === 0) return [];
  const what = mixed.map(([name]) => name).join(', ');
  const spots = mixed.map(([name]) => sent(callback, name));
  return [
    broken(`a ${message.type} with the ${what} of another call came to a callback URL`, [callback], {
      spots,
    }),
  ];
}

function namesIn(message: Callback): readonly (readonly [Name, string])[] {
  const id = idOf(message);
  const callId = 'call_id' in message ? message.call_id : null;
  return [
    ['group_id', message.group_id],
    ...(id === undefined ? [] : [['id', id] as const]),
    ...(typeof callId === 'string' ? [['call_id', callId] as const] : []),
  ];
}
