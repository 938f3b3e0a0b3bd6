import { idOf } from '../../events/judge-callback.js';
import type { Callback } from '../../protocol/callbacks.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import { excerpt } from '../../util/excerpt.js';
import { REDACTED } from '../../util/redact.js';
import { type CallEvidence, type Told, told, toldAs } from '../evidence.js';
import { type Name, type Names, namesOf } from '../evidence-queries.js';
import { broken, held, type Observation, type Rule, sent } from '../judge.js';

/** What of an address a request line shows: path and query. An address that is no URL, or a path already, stays as it is. */
function targetOf(address: string): string {
  const target = address.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  return target.startsWith('/') ? target : `/${target}`;
}

/** As every client writes it that goes by the URL standard. */
function standardOf(target: string): string {
  const base = 'http://callback.invalid';
  return URL.canParse(target, base) ? targetOf(new URL(target, base).href) : target;
}

/**
 * How the address of a callback differs from that which was given, without telling either: whoever has it can speak into a
 * conversation. Null where it does not. A proxy before the listener may have taken the beginning of the path away.
 */
export function differenceOf(given: string, used: string): string | null {
  const [want, came] = [targetOf(given), targetOf(used)];
  if (want.endsWith(came) || standardOf(want).endsWith(came) || isAsRedacted(want, came)) return null;
  const [wantPath = '', wantQuery] = want.split(/\?(.*)/s);
  const [path = '', query] = came.split(/\?(.*)/s);
  if (query !== wantQuery && wantPath.endsWith(path)) return queryDifference(wantQuery, query);
  if (slashless(wantPath).endsWith(slashless(path))) return 'its trailing slash was changed';
  return decoded(wantPath).endsWith(decoded(path)) ? 'its encoding was changed' : 'its path was changed';
}

/** What was redacted in either may have been what the other has in its place. */
function isAsRedacted(want: string, came: string): boolean {
  if (!want.includes(REDACTED) && !came.includes(REDACTED)) return false;
  const [given, used] = [want, came].map(target => target.split(/([/?&=])/));
  if (!given || !used) return false;
  const left = given.slice(-used.length);
  return used.every((piece, index) => piece === left[index] || isCovered(piece, left[index], index));
}

/** A path that has lost its beginning begins with nothing. */
function isCovered(piece: string, other: string | undefined, index: number): boolean {
  if (other === undefined) return false;
  return (index === 0 && piece === '') || piece.includes(REDACTED) || other.includes(REDACTED);
}

function queryDifference(want: string | undefined, came: string | undefined): string {
  if (came === undefined) return 'its query was left out';
  if (want === undefined) return 'a query was added';
  return decoded(want) === decoded(came) ? 'its encoding was changed' : 'its query was changed';
}

function slashless(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.toLowerCase();
  }
}

/** What there is in an address that could have been changed. */
export function featuresOf(given: string): readonly string[] {
  const [path = '', query = ''] = targetOf(given).split(/\?(.*)/s);
  return [
    ...(query === '' ? [] : ['a query']),
    ...(path.endsWith('/') ? ['a trailing slash'] : []),
    ...(/%[\da-f]{2}/i.test(path + query) ? ['encoded characters'] : []),
  ];
}

/** What a message says a call is named: undefined where its type has no such field. */
type Echo = (told: Told, invocation: Invocation) => string | null | undefined;

/** Whether each message gives a name of its call back. That of another call is not wrong here, but mixed up (TOOL-ISOLATE). */
function onEchoes(calls: readonly CallEvidence[], name: Name, echo: Echo): readonly Observation[] {
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

/** TOOL-ID: a result or a question names its call. The `tool_call_id` of an event is of TOOL-SUB. */
export const keepsId: Rule = {
  id: 'TOOL-ID',
  masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
  absent: 'no result or question came that could be read',
  observe: ({ calls }) => onEchoes(calls, 'id', ({ message }) => ('id' in message ? message.id : undefined)),
};

/** TOOL-GROUP: every message belongs to the thread of its call. */
export const keepsThread: Rule = {
  id: 'TOOL-GROUP',
  masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
  absent: 'no callback came that could be read',
  observe: ({ calls }) => onEchoes(calls, 'group_id', ({ message }) => message.group_id),
};

/** TOOL-CALLID: a second name that was given comes back as it was, and none where none was given. */
export const keepsCallId: Rule = {
  id: 'TOOL-CALLID',
  absent: 'no call that had a call_id, or was given one, was answered',
  observe: ({ calls }) =>
    onEchoes(calls, 'call_id', ({ message }, { call_id: given }) =>
      'id' in message && (typeof given === 'string' || typeof message.call_id === 'string')
        ? (message.call_id ?? null)
        : undefined,
    ),
};

interface Span {
  readonly call: CallEvidence;
  readonly from: number;
  readonly to: number;
}

/** The calls that were answered, and ran while another one did. @param until the end of it all, for those that did not end */
function atOnce(calls: readonly CallEvidence[], until: number): readonly CallEvidence[] {
  const spans = calls.flatMap(call => spanOf(call, until)).sort((one, other) => one.from - other.from);
  let busyUntil = -1;
  return spans.flatMap(({ call, from, to }, index) => {
    const overlaps = from < busyUntil || (spans[index + 1]?.from ?? Number.POSITIVE_INFINITY) < to;
    busyUntil = Math.max(busyUntil, to);
    return overlaps && call.callbacks.length > 0 ? [call] : [];
  });
}

function spanOf(call: CallEvidence, until: number): Span[] {
  const [first] = call.attempts;
  if (!call.reading.ok || !first) return [];
  const result = toldAs(call, 'tool_result')[0]?.callback;
  return [{ call, from: first.request.at, to: result?.request.at ?? until }];
}

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
