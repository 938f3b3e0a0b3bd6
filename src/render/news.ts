import type { Content } from '../events/content.js';
import type { Event, EventKind, RequestEvent } from '../events/events.js';
import { type Session, type SessionCall, type SessionRequest, statusOf } from '../events/session-calls.js';
import { type CallbackDelivery, type ToolCall, typeOfDelivery } from '../events/tool-call.js';
import { isSettledStatus, isTerminal } from '../protocol/callbacks.js';
import { refusalIn } from '../protocol/session.js';
import { formatDuration } from '../util/text.js';
import { foreignWords } from '../util/values.js';
import {
  answeredBy,
  callName,
  decisionWords,
  faultOf,
  isTaken,
  outcomeWords,
  secretsOf,
  shortArgs,
  shortText,
} from './calls.js';
import { clipped, counted, type Line, line, quote, type Span, say, type Tone, took } from './line.js';
import { givenOf, type Known, knownCall } from './session-answers.js';

const RECEIVED = say('→', 'running');

const DONE = say('✓', 'good');

const FAILED = say('✗', 'bad');

const NOTE = say('•', 'dim');

const WARNING = say('!', 'warn');

type NewsOf<Kind extends EventKind, Context> = (
  event: Extract<Event, { kind: Kind }>,
  context: Context,
) => Line | null;

/** What each kind of event says on one line when it happens; null where it says nothing. */
type NewsTable<Context> = { readonly [Kind in EventKind]: NewsOf<Kind, Context> | null };

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/** The remembered call that an event is about. */
type About = ToolCall | undefined;

/** An event of a mock on one line; null for an event without news. @param call as it is after the event */
export function newsOf(event: Event, call: About): Line | null {
  const tell = MOCK_NEWS[event.kind] as NewsOf<EventKind, About> | null;
  return tell?.(event, call) ?? null;
}

/** News of a call begin with its name. */
function about(call: About, mark: Span, words: Line): Line {
  return call ? line`${mark} ${callName(call)} ${words}` : line`${mark} ${words}`;
}

const PLANS: Readonly<Record<string, Line>> = {
  'rate-limit': [say('is over the rate limit', 'warn')],
  demand: [say('waiting: send it with POST /__mock__/fire', 'warn')],
  silence: [say('gets no result (planned)')],
};

const MOCK_NEWS: NewsTable<About> = {
  request(event, call) {
    if (event.purpose !== 'invocation') return noticeNews(event, call);
    return call && call.arrivals > 1
      ? about(call, NOTE, line`received again (${call.arrivals} times)`)
      : null;
  },
  response: endNews,
  broken: endNews,
  matched({ fixture }, call) {
    // Where nothing matched, a warning has said so, and why.
    if (!call || (fixture === null && call.warnings.length > 0)) return null;
    return about(call, RECEIVED, [say('answered by ', 'dim'), ...answeredBy(call)]);
  },
  planned: ({ by, plan }, call) =>
    about(call, NOTE, PLANS[plan] ?? [say(`${by}: `, 'dim'), ...quote(plan, 'warn')]),
  warned: ({ message }, call) => about(call, WARNING, foreign(message, call, 'warn')),
  dropped({ what, why, count, leg, type }, call) {
    const delivery = call && leg !== undefined ? deliveryOf(call, leg) : undefined;
    const name = type ?? (delivery && typeOfDelivery(delivery)) ?? what;
    const many = count === 1 ? '' : `${count} times `;
    return about(call, FAILED, line`${name} ${many}not delivered: ${foreign(why, call, 'bad')}`);
  },
  decided: (event, call) =>
    event.what === 'choice' || event.what === 'consent'
      ? about(call, DONE, decisionWords(event, call))
      : null,
  expired({ what, afterMs }, call) {
    const within = afterMs > 0 ? ` within ${formatDuration(afterMs)}` : '';
    return what === 'answer' ? about(call, NOTE, [say(`no answer${within}`, 'warn')]) : null;
  },
  shaped({ by, changes }, call) {
    if (by === 'verbatim' || changes.length === 0) return null;
    const list = changes.map(({ path, change }) => `${change} ${path}`).join(', ');
    return about(call, NOTE, line`${say('middleware ', 'dim')}${list}`);
  },
  loaded: null,
  expected: null,
  denied: null,
  session: null,
  awaiting: null,
  answered: null,
};

/** An error may quote the URL that it is about (threats, row 25). */
function foreign(text: string, call: About, tone: Tone): Line {
  return clipped(call ? secretsOf(call).text(text) : text, tone, 2_000);
}

/** The notices of a runtime; null for other requests. */
function noticeNews({ purpose, thread }: RequestEvent, call: About): Line | null {
  const name = thread === undefined ? 'a thread' : line`thread ${clipped(thread, 'title')}`;
  switch (purpose) {
    case 'cancel':
      return call ? about(call, NOTE, line`was canceled`) : line`${NOTE} ${name} cancels an unknown call`;
    case 'close':
      return line`${NOTE} ${name} was closed`;
    case 'migrate':
      return line`${NOTE} ${name} was migrated`;
    default:
      return null;
  }
}

/** The end of an attempt to deliver a callback, or of an invocation that was not simply acknowledged. */
function endNews(event: EndEvent, call: About): Line | null {
  if (!call) return null;
  if (event.leg === call.acknowledgement.leg) return acknowledgementNews(event, call);
  const delivery = deliveryOf(call, event.leg);
  const index = delivery?.attempts.findIndex(({ leg }) => leg === event.leg) ?? -1;
  const attempt = delivery?.attempts[index];
  if (!delivery || !attempt) {
    if (event.kind === 'broken' || event.status < 400) return null;
    return about(call, FAILED, [say(`a request about it was refused with ${event.status}`, 'warn')]);
  }
  const { at, endedAt = at, status = 500 } = attempt;
  const type = typeOfDelivery(delivery) ?? 'callback';
  const time = took(endedAt - at, 'in');
  if (isTaken(status))
    return about(call, DONE, line`${type} delivered${index > 0 && ` at attempt ${index + 1}`}${time}`);
  if (status < 500) return null; // it is final, and reported as dropped
  return about(
    call,
    NOTE,
    line`${type}${say(` attempt ${index + 1} failed: ${faultOf(attempt)}`, 'warn')}${time}`,
  );
}

function deliveryOf(call: ToolCall, leg: string): CallbackDelivery | undefined {
  return call.deliveries.findLast(({ attempts }) => attempts.some(each => each.leg === leg));
}

function acknowledgementNews(event: EndEvent, call: ToolCall): Line | null {
  if (call.isDirect) {
    const time = took(event.at - call.receivedAt);
    if (event.kind === 'response') return about(call, DONE, line`answered${time}`);
    // That it gets no answer on purpose was said before.
    return call.isSilent ? null : about(call, NOTE, line`got no answer: ${quote(event.code, 'warn')}${time}`);
  }
  if (event.kind === 'broken') return about(call, NOTE, [say('was not acknowledged (planned)', 'warn')]);
  return event.status === 200 ? null : about(call, FAILED, [say(`was refused with ${event.status}`, 'bad')]);
}

/** An event of an agent session on one line; null for an event without news, or of another protocol. @param known has had the event already */
export function sessionNews(event: Event, known: Known): Line | null {
  const tell = SESSION_NEWS[event.kind] as NewsOf<EventKind, Known> | null;
  return tell?.(event, known) ?? null;
}

const SESSION_NEWS: NewsTable<Known> = {
  session: statusNews,
  awaiting: awaitingNews,
  answered: answerNews,
  response: apiNews,
  broken: apiNews,
  warned: ({ message }) => line`${WARNING} ${clipped(message, 'warn', 2_000)}`,
  expired: ({ calls, what, afterMs }) =>
    calls || what !== 'timeout'
      ? null
      : line`${FAILED} ${say(`no news for ${formatDuration(afterMs)}`, 'bad')}`,
  planned: event => newsOf(event, undefined),
  dropped: event => newsOf(event, undefined),
  request: null,
  expected: null,
  denied: null,
  loaded: null,
  decided: null,
  matched: null,
  shaped: null,
};

/** With the id of the session where there are several. */
function ofSession(news: Line, thread: string | undefined, { sessions }: Known): Line {
  if (thread === undefined || sessions.size < 2) return news;
  return [...news, say(' (', 'dim'), ...clipped(thread, 'dim'), say(')', 'dim')];
}

/** The answer to a request of the session API; null for one that only read something. */
function apiNews(event: EndEvent, known: Known): Line | null {
  const request = known.sessions.request(event.leg);
  if (!request) return null;
  const news = request.purpose === 'tool_results' ? postNews(event, request) : requestNews(event, request);
  return news && ofSession(news, request.thread, known);
}

function attemptWords({ attempt }: SessionRequest): string {
  return attempt > 1 ? ` at attempt ${attempt}` : '';
}

function postNews(event: EndEvent, request: SessionRequest): Line {
  const time = took(event.at - request.at, 'in');
  const { size } = new Set([...(request.calls ?? []), ...(event.calls ?? [])]);
  const what = size === 0 ? 'results' : counted(size, 'result');
  const posted = `${what} posted${attemptWords(request)}`;
  if (event.kind === 'broken')
    return line`${WARNING} ${posted}, but ${clipped(event.code, 'warn')}${time}${say(': unknown whether they arrived', 'warn')}`;
  const { status, body } = event;
  if (isTaken(status)) return line`${DONE} ${posted}, answered ${status}${time}`;
  if (status === 409)
    return line`${NOTE} ${say(`${posted}, answered 409`, 'warn')}${time}${say(': the session had finished', 'warn')}`;
  return line`${FAILED} ${say(`${what} refused${attemptWords(request)} with ${status}`, 'bad')}${time}${refusalWords(body)}`;
}

/** What a platform says of a request that it refuses, after a colon. */
function refusalWords(body: Content | undefined): Line {
  const said = body?.json.ok ? refusalIn(body.json.value) : '';
  return said === '' ? [] : line`: ${said}`;
}

function requestNews(event: EndEvent, request: SessionRequest): Line | null {
  const [path = ''] = request.url.split(/[?#]/, 1);
  const place = /\/api\/v2(\/.*)$/.exec(path)?.[1] ?? path;
  const what = line`${`${request.method} ${place}`}${attemptWords(request)}`;
  const time = took(event.at - request.at, 'in');
  if (event.kind === 'broken')
    return line`${WARNING} ${what} was not answered: ${clipped(event.code, 'warn')}${time}`;
  const { status, body } = event;
  if (status >= 400)
    return line`${FAILED} ${what}${say(` answered ${status}`, 'bad')}${time}${refusalWords(body)}`;
  return request.method === 'GET' ? null : line`${NOTE} ${what} answered ${status}${time}`;
}

/** That a session waits for calls is said by {@link awaitingNews}. */
function statusNews(
  { thread, status, at, answer, error }: Extract<Event, { kind: 'session' }>,
  { sessions }: Known,
) {
  const session = sessions.get(thread ?? '');
  if (!session || status === 'awaiting_tool_results') return null;
  const isChange = session.statuses.at(-1)?.at === at;
  return isChange || answer !== undefined || error !== undefined ? statusLine(session, at) : null;
}

/** Characters of an error or an answer. */
const MOST = 500;

function statusLine(session: Session, at: number): Line {
  const { id, error, answer, beganAt } = session;
  const status = statusOf(session) ?? '';
  const name = line`session ${clipped(id, 'title')}`;
  if (!isSettledStatus(status)) return line`${NOTE} ${name} is ${status}`;
  const mark = error === null && (status === 'completed' || status === 'idle') ? DONE : FAILED;
  const does = say(isTerminal(status) ? ' ended as ' : ' is ');
  const why = error !== null && line`: ${clipped(error, 'bad', MOST)}`;
  const result = answer !== null && line`: ${clipped(foreignWords(answer.value), 'plain', MOST)}`;
  return line`${mark} ${name}${does}${status}${took(at - beganAt)}${why}${result}`;
}

/** Of the new calls so many are named. */
const NAMED = 5;

/** The calls that are new; a call that is published again is left out. */
function awaitingNews(
  { thread, pending, at }: Extract<Event, { kind: 'awaiting' }>,
  known: Known,
): Line | null {
  const asked = pending.flatMap(({ key }) => {
    const found = knownCall(known, thread, key);
    return found?.call.askedAt === at ? [found.call] : [];
  });
  if (asked.length === 0) return null;
  const names = asked
    .slice(0, NAMED)
    .flatMap((call, index) => [...(index > 0 ? [say(' · ', 'dim')] : []), ...callWords(call)]);
  const rest = asked.length - NAMED;
  const count = asked.length === 1 ? 'a call' : `${asked.length} calls`;
  const more = rest > 0 && say(` and ${rest} more`, 'dim');
  return ofSession(line`${RECEIVED} waits for ${count}: ${names}${more}`, thread, known);
}

/** The name of a session's call: its tool, its arguments in short, its id. */
export function callWords({ tool, args, id, key }: Pick<SessionCall, 'tool' | 'args' | 'id' | 'key'>): Line {
  const short = shortArgs(args);
  const name = clipped(id === null ? `${key} (no id)` : key, 'dim');
  return line`${clipped(tool, 'title')}${short.length > 0 && line` ${short}`} ${name}`;
}

function answerNews(
  { thread, calls = [], at, by }: Extract<Event, { kind: 'answered' }>,
  known: Known,
): Line | null {
  const found = knownCall(known, thread, calls[0] ?? '');
  const given = found && givenOf(found);
  if (!found || !given) return null;
  const { outcome, text } = given;
  const does = say(by === 'platform' ? ' got ' : ' answered: ');
  const mark = outcome.type === 'success' ? DONE : FAILED;
  const said = text !== null && line` ${shortText(text)}`;
  const time = took(at - found.call.askedAt);
  return ofSession(
    line`${mark} ${callWords(found.call)}${does}${outcomeWords(outcome)}${said}${time}`,
    thread,
    known,
  );
}
