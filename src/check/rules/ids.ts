import { idOf } from '../../events/judge-callback.js';
import type { Callback } from '../../protocol/callbacks.js';
import type { Invocation } from '../../protocol/invocation.js';
import { longExcerpt } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import type { Evidence } from '../evidence.js';
import {
  defineRules,
  met,
  type Observation,
  type Observed,
  requestSpot,
  unrecorded,
  violated,
} from '../rule.js';
import { MAX_QUOTE_LENGTH } from '../rule-details.js';
import { ranTogether, spanOf } from '../times.js';

/** The ids in callbacks: those of their call, and of no other one. */
export const idRules = defineRules({
  'TOOL-GROUP': {
    level: 'MUST',
    statement: "includes the invocation's group_id in every callback",
    advice: 'Copy group_id unchanged from the invocation into every callback.',
    invocationPage: 'MUST be included in all callback messages to route them to the correct conversation.',
    masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
    absent: 'no readable callback came to a callback URL',
    observe: evidence => compareNames(evidence, 'group_id', message => message.group_id),
  },
  'TOOL-ID': {
    level: 'MUST',
    statement: 'sends id back unchanged',
    advice: 'Copy id from the invocation into the result; do not generate an id.',
    resultPage: 'MUST match the id from the original invocation.',
    masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
    absent: 'no readable result or question came to a callback URL',
    observe: evidence => compareNames(evidence, 'id', message => ('id' in message ? message.id : undefined)),
  },
  'TOOL-CALLID': {
    level: 'MUST',
    statement: 'sends a given call_id back unchanged',
    advice: 'Copy call_id from the invocation into the result; leave it out if the invocation has none.',
    invocationPage: 'If provided, MUST be echoed in the tool result.',
    absent: 'no callback came with a call_id, or for a call that has one',
    observe: evidence =>
      compareNames(evidence, 'call_id', (message, { call_id: given }) => {
        if (!('id' in message)) return undefined;
        if (typeof message.call_id === 'string') return message.call_id;
        // Only a result must repeat it (seeds 000 and 004).
        return message.type === 'tool_result' && typeof given === 'string' ? null : undefined;
      }),
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
    observe: ({ calls, isNameOfOtherCall: isOthers }) => {
      const overlapping = new Set(overlappingCalls(calls));
      const unheard = calls.filter(({ callbacks, strays }) => callbacks.length === 0 && strays.length === 0);
      const what = `${overlapping.size} calls that overlapped`;
      return calls.map(call => {
        const { invocation, received, callbacks } = call;
        const mixed = invocation
          ? received.flatMap(each => judgeNames(each, invocation, isOthers) ?? [])
          : [];
        const found = [mixed, judgeResultsOfOthers(call, unheard) ?? []].flat();
        return found.length === 0 && overlapping.has(call) ? met(callbacks, what) : found;
      });
    },
  },
});

const NAMES = ['group_id', 'id', 'call_id'] as const;

/**
 * Compares a name of each call with the one in each of its messages. A message with a name of another call is reported by TOOL-ISOLATE
 * instead.
 * @param nameIn undefined for a message without the field
 */
function compareNames(
  { calls, isNameOfOtherCall: isOthers }: Evidence,
  name: (typeof NAMES)[number],
  nameIn: (message: Callback, invocation: Invocation) => string | null | undefined,
): Observed {
  return calls.map(({ invocation, received }) => {
    if (!invocation) return null;
    const given = invocation[name] ?? null;
    return received.map(({ callback, message }) => {
      const came = nameIn(message, invocation);
      if (came === undefined || namesOfOthers(message, invocation, isOthers).length > 0) return null;
      return came === given ? met(callback) : judgeOtherName(name, { callback, message }, given, came);
    });
  });
}

function judgeOtherName(
  name: string,
  { callback, message }: ReceivedCallback,
  given: string | null,
  came: string | null,
): Observation {
  const actual = came === null ? 'none' : longExcerpt(came, MAX_QUOTE_LENGTH);
  return violated(`a ${message.type} has ${came === null ? 'no' : 'another'} ${name}`, callback, {
    ...(came !== null && { name: actual }),
    expected: given === null ? 'none' : longExcerpt(given, MAX_QUOTE_LENGTH),
    actual,
    spots: [requestSpot(callback, name)],
  });
}

/** The names in a message that belong to another call. */
function namesOfOthers(
  message: Callback,
  invocation: Invocation,
  isOthers: Evidence['isNameOfOtherCall'],
): readonly (typeof NAMES)[number][] {
  const names = { ...message, id: idOf(message), call_id: 'call_id' in message ? message.call_id : null };
  return NAMES.filter(name => {
    const value = names[name];
    return typeof value === 'string' && isOthers(name, value, invocation);
  });
}

function judgeNames(
  { callback, message }: ReceivedCallback,
  invocation: Invocation,
  isOthers: Evidence['isNameOfOtherCall'],
): Observation | null {
  const mixed = namesOfOthers(message, invocation, isOthers);
  if (mixed.length === 0) return null;
  const what = `a ${message.type} with the ${mixed.join(', ')} of another call came to a callback URL`;
  return violated(what, callback, { spots: mixed.map(name => requestSpot(callback, name)) });
}

/**
 * A tool that keeps one call in a variable for all posts every result with the names of the latest one: that call gets its result several
 * times, and those that it ran together with get none.
 */
function judgeResultsOfOthers(call: CallEvidence, unheard: readonly CallEvidence[]): Observation | null {
  const further = surplusResults(call);
  const [first] = further;
  if (!first) return null;
  const deprived = unheard.filter(each => ranTogether(each, call) && spanOf(each).to > first.request.at);
  const over = deprived.filter(({ ending: { kind } }) => kind === 'silent' || kind === 'called-off');
  const open = deprived.filter(({ ending: { kind } }) => kind === 'open');
  const proofOf = (calls: readonly CallEvidence[]) => [
    ...further,
    ...calls.flatMap(({ attempts }) => attempts),
  ];
  const what = `a call got ${further.length + 1} results, and`;
  if (over.length > 0)
    return violated(`${what} ${over.length} that ran at the same time got none`, proofOf(over));
  if (open.length === 0) return null;
  return unrecorded(
    `${what} ${open.length} that ran at the same time had none at the end of the recording`,
    proofOf(open),
  );
}

/** The shortest time after which a client that waits for an answer sends its request again, in ms. */
const MIN_RETRY_MS = 500;

/** The results after an accepted one that are no retries: they came after its 200, or too early for a retry. */
function surplusResults({ results }: CallEvidence): readonly CallbackEvidence[] {
  const accepted = results.findIndex(({ status }) => status === 200);
  const first = results[accepted];
  if (!first?.end) return [];
  const { request, end } = first;
  return results
    .slice(accepted + 1)
    .filter(({ request: { seq, at } }) => seq > end.seq || at < request.at + MIN_RETRY_MS);
}

/** The answered calls that ran at the same time as another one. */
function overlappingCalls(calls: readonly CallEvidence[]): readonly CallEvidence[] {
  const spans = calls
    .filter(({ invocation, callbacks }) => invocation && callbacks.length > 0)
    .map(call => ({ call, ...spanOf(call) }))
    .sort((one, other) => one.from - other.from);
  let busyUntil = -1;
  return spans.flatMap(({ call, from, to }, index) => {
    const overlaps = from < busyUntil || (spans[index + 1]?.from ?? Number.POSITIVE_INFINITY) < to;
    busyUntil = Math.max(busyUntil, to);
    return overlaps ? [call] : [];
  });
}
