import type { Invocation } from '../../../protocol/invocation.js';
import { excerpt } from '../../../text/excerpt.js';
import type { CallEvidence } from '../../evidence/evidence.js';
import { type Told, told } from '../../evidence/messages.js';
import { type Name, namesOf } from '../../evidence/neighbours.js';
import { broken, held, type Observation } from '../../observation.js';
import { sent } from '../../spot.js';

/** What a message says a call is named: undefined where its type has no such field. */
type Echo = (told: Told, invocation: Invocation) => string | null | undefined;

/** Whether each message gives a name of its call back. That of another call is not wrong here, but mixed up (TOOL-ISOLATE). */
export function onEchoes(calls: readonly CallEvidence[], name: Name, echo: Echo): readonly Observation[] {
  const names = namesOf(calls);
  return calls.flatMap(call => {
    const { reading } = call;
    if (!reading.ok) return [];
    const { invocation } = reading;
    const given = invocation[name] ?? null;
    return told(call).flatMap(each => {
      const came = echo(each, invocation);
      if (came === undefined || (came !== null && names.isOthers(name, came, invocation))) return [];
      return [came === given ? held([each.callback]) : altered(each, name, given, came)];
    });
  });
}

function altered(
  { callback, message }: Told,
  name: Name,
  given: string | null,
  came: string | null,
): Observation {
  const actual = came === null ? 'none' : excerpt(came);
  return broken(`a ${message.type} has ${came === null ? 'no' : 'another'} ${name}`, [callback], {
    ...(came !== null && { name: actual }),
    expected: given === null ? 'none' : excerpt(given),
    actual,
    spots: [sent(callback, name)],
  });
}
