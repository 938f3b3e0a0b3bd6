import { idOf } from '../../events/fold-exchange.js';
import type { Callback } from '../../protocol/callbacks.js';
import type { Invocation } from '../../protocol/invocation.js';
import { excerpt } from '../../util/text.js';
import type { CallEvidence, Received } from '../call.js';
import { indexNames } from '../evidence.js';
import { broken, defineRules, held, type Observation, type Observed, sent } from '../rule.js';

/** Which ids a tool sends back. */
export const idRules = defineRules({
  'TOOL-GROUP': {
    level: 'MUST',
    statement: "includes the invocation's group_id in every callback",
    advice: 'Copy group_id unchanged from the invocation into every callback.',
    invocationPage: 'MUST be included in all callback messages to route them to the correct conversation.',
    masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
    absent: 'no callback came that could be read',
    observe: ({ calls }) => compareNames(calls, 'group_id', message => message.group_id),
  },
  'TOOL-ID': {
    level: 'MUST',
    statement: 'sends id back unchanged',
    advice: 'Copy id from the invocation into the result; do not generate an id.',
    resultPage: 'MUST match the id from the original invocation.',
    masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
    absent: 'no result or question came that could be read',
    observe: ({ calls }) => compareNames(calls, 'id', message => ('id' in message ? message.id : undefined)),
  },
  'TOOL-CALLID': {
    level: 'MUST',
    statement: 'sends a given call_id back unchanged',
    advice: 'Copy call_id from the invocation into the result; leave it out if the invocation has none.',
    invocationPage: 'If provided, MUST be echoed in the tool result.',
    absent: 'no callback came with a call_id, or for a call that has one',
    observe: ({ calls }) =>
      compareNames(calls, 'call_id', (message, { call_id: given }) =>
        'id' in message && (typeof given === 'string' || typeof message.call_id === 'string')
          ? (message.call_id ?? null)
          : undefined,
      ),
  },
  'TOOL-ISOLATE': {
    level: 'MUST',
    statement: 'never mixes ids, threads or callback URLs of concurrent calls',
    advice: 'Store id, group_id and callback_url per call, never in a variable that calls share.',
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
    absent: 'no two calls with callbacks ran at the same time',
    observe: ({ calls, until }) => {
      const isOthers = indexNames(calls);
      const mixed = calls.flatMap(({ invocation, received }) =>
        invocation ? received.flatMap(each => onNames(each, invocation, isOthers) ?? []) : [],
      );
      if (mixed.length > 0) return mixed;
      const overlapping = overlappingCalls(calls, until);
      return overlapping.map(({ callbacks }) =>
        held(callbacks, `${overlapping.length} calls that overlapped`),
      );
    },
  },
});

const NAMES = ['group_id', 'id', 'call_id'] as const;

/**
 * Compares a name of each call with the one in each of its messages. A name of another call is of TOOL-ISOLATE.
 * @param nameIn undefined for a message without the field
 */
function compareNames(
  calls: readonly CallEvidence[],
  name: (typeof NAMES)[number],
  nameIn: (message: Callback, invocation: Invocation) => string | null | undefined,
): Observed {
  const isOthers = indexNames(calls);
  return calls.map(({ invocation, received }) => {
    if (!invocation) return null;
    const given = invocation[name] ?? null;
    return received.map(({ callback, message }) => {
      const came = nameIn(message, invocation);
      if (came === undefined || (came !== null && isOthers(name, came, invocation))) return null;
      return came === given ? held(callback) : onOtherName(name, { callback, message }, given, came);
    });
  });
}

function onOtherName(
  name: string,
  { callback, message }: Received,
  given: string | null,
  came: string | null,
): Observation {
  const actual = came === null ? 'none' : excerpt(came);
  return broken(`a ${message.type} has ${came === null ? 'no' : 'another'} ${name}`, callback, {
    ...(came !== null && { name: actual }),
    expected: given === null ? 'none' : excerpt(given),
    actual,
    spots: [sent(callback, name)],
  });
}

function onNames(
  { callback, message }: Received,
  invocation: Invocation,
  isOthers: ReturnType<typeof indexNames>,
): Observation | null {
  const names = { ...message, id: idOf(message) };
  const mixed = NAMES.filter(name => {
    const value = name in names ? names[name as keyof typeof names] : undefined;
    return typeof value === 'string' && isOthers(name, value, invocation);
  });
  if (mixed.length === 0) return null;
  const what = `a ${message.type} with the ${mixed.join(', ')} of another call came to a callback URL`;
  return broken(what, callback, { spots: mixed.map(name => sent(callback, name)) });
}

/** The answered calls that ran at the same time as another one. @param until the end of calls without a result */
function overlappingCalls(calls: readonly CallEvidence[], until: number): readonly CallEvidence[] {
  const spans = calls
    .flatMap(call => {
      const [first] = call.attempts;
      const [result] = call.messages('tool_result');
      const to = result?.callback.request.at ?? until;
      return call.invocation && first ? [{ call, from: first.request.at, to }] : [];
    })
    .sort((one, other) => one.from - other.from);
  let busyUntil = -1;
  return spans.flatMap(({ call, from, to }, index) => {
    const overlaps = from < busyUntil || (spans[index + 1]?.from ?? Number.POSITIVE_INFINITY) < to;
    busyUntil = Math.max(busyUntil, to);
    return overlaps && call.callbacks.length > 0 ? [call] : [];
  });
}
