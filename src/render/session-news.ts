import type { Body, EndEvent, EventOf } from '../events/events.js';
import { type Session, type SessionRequest, statusOf } from '../events/session-calls.js';
import { isSuccess } from '../protocol/http-status.js';
import { isSettledStatus, isTerminal, refusalIn } from '../protocol/session.js';
import { readUrl } from '../util/url.js';
import { stringOrJson } from '../util/values.js';
import { outcomeLine } from './calls.js';
import { clipped, type Line, line, pluralize, say, took, withMark } from './line.js';
import { callLine, isWell, type KnownSessions, knownCall, receivedAnswer } from './session-calls.js';

export type SessionEvent = EndEvent | EventOf<'session' | 'awaiting' | 'answered'>;

/** Describes events of agent sessions on one line; null if there is nothing to report. */
export function sessionNews(event: SessionEvent, known: KnownSessions): Line | null {
  if (event.kind === 'session') return statusNews(event, known);
  if (event.kind === 'awaiting') return awaitingNews(event, known);
  return event.kind === 'answered' ? answerNews(event, known) : apiNews(event, known);
}

/** Adds the id of the session if there are several. */
function ofSession(news: Line, thread: string | undefined, { sessions }: KnownSessions): Line {
  if (thread === undefined || !sessions || sessions.size < 2) return news;
  return [...news, say(' (', 'dim'), ...clipped(thread, 'dim'), say(')', 'dim')];
}

/** Describes the answer to a request of the session API; null for reads. */
function apiNews(event: EndEvent, known: KnownSessions): Line | null {
  const request = known.sessions?.request(event.leg);
  if (!request) return null;
  const { purpose } = request;
  const describe = purpose === 'tool_results' ? postNews : purpose === 'webhook' ? webhookNews : requestNews;
  const news = describe(event, request);
  return news && ofSession(news, request.thread, known);
}

function attemptWords({ attempt }: SessionRequest): string {
  return attempt > 1 ? ` at attempt ${attempt}` : '';
}

function postNews(event: EndEvent, request: SessionRequest): Line {
  const time = took(event.at - request.at, 'in');
  const { size } = new Set([...(request.calls ?? []), ...(event.calls ?? [])]);
  const what = size === 0 ? 'results' : pluralize(size, 'result');
  const posted = `${what} posted${attemptWords(request)}`;
  if (event.kind === 'broken') {
    const unknown = say(': unknown whether they arrived', 'warn');
    return withMark('warning', line`${posted}, but ${clipped(event.code, 'warn')}${time}${unknown}`);
  }
  const { status, body } = event;
  if (isSuccess(status)) return withMark('done', line`${posted}, answered ${status}${time}`);
  if (status === 409) {
    const late = say(': the session had finished', 'warn');
    return withMark('aside', line`${say(`${posted}, answered 409`, 'warn')}${time}${late}`);
  }
  const refused = say(`${what} refused${attemptWords(request)} with ${status}`, 'bad');
  return withMark('failed', line`${refused}${time}${refusalWords(body)}`);
}

/** The platform's reason for refusing a request, after a colon. */
function refusalWords(body: Body | undefined): Line {
  const said = body?.json.ok ? refusalIn(body.json.value) : '';
  return said === '' ? [] : line`: ${said}`;
}

/** The path of the receiver is left out, since it may be secret. */
function webhookNews(event: EndEvent, { url, at, type = '' }: SessionRequest): Line {
  const what = line`webhook ${clipped(type, 'title')} to ${readUrl(url)?.origin ?? ''}`;
  const time = took(event.at - at, 'in');
  if (event.kind === 'broken')
    return withMark('failed', line`${what} failed: ${clipped(event.code, 'bad')}${time}`);
  const isTaken = isSuccess(event.status);
  const answered = say(` answered ${event.status}`, isTaken ? 'plain' : 'bad');
  return withMark(isTaken ? 'aside' : 'failed', line`${what}${answered}${time}`);
}

function requestNews(event: EndEvent, request: SessionRequest): Line | null {
  const [path = ''] = request.url.split(/[?#]/, 1);
  const place = /\/api\/v2(\/.*)$/.exec(path)?.[1] ?? path;
  const what = line`${`${request.method} ${place}`}${attemptWords(request)}`;
  const time = took(event.at - request.at, 'in');
  if (event.kind === 'broken')
    return withMark('warning', line`${what} was not answered: ${clipped(event.code, 'warn')}${time}`);
  const { status, body } = event;
  if (status >= 400)
    return withMark('failed', line`${what}${say(` answered ${status}`, 'bad')}${time}${refusalWords(body)}`);
  return request.method === 'GET' ? null : withMark('aside', line`${what} answered ${status}${time}`);
}

/** {@link awaitingNews} reports that a session waits for calls. */
function statusNews(
  { thread, status, at, answer, error }: EventOf<'session'>,
  { sessions }: KnownSessions,
): Line | null {
  const session = sessions?.get(thread ?? '');
  if (!session || status === 'awaiting_tool_results') return null;
  const isChange = session.status?.at === at;
  return isChange || answer !== undefined || error !== undefined ? statusLine(session, at) : null;
}

/** Maximum length of an error, an answer or a result, in characters. */
const MAX = 500;

function statusLine(session: Session, at: number): Line {
  const { id, error, answer, beganAt } = session;
  const status = statusOf(session) ?? '';
  const name = line`session ${clipped(id, 'title')}`;
  if (!isSettledStatus(status)) return withMark('aside', line`${name} is ${status}`);
  const does = say(isTerminal(status) ? ' ended as ' : ' is ');
  const why = error !== null && line`: ${clipped(error, 'bad', MAX)}`;
  const result = answer !== null && line`: ${clipped(stringOrJson(answer.value), 'plain', MAX)}`;
  const time = took(at - beganAt);
  return withMark(isWell(session) ? 'done' : 'failed', line`${name}${does}${status}${time}${why}${result}`);
}

/** Maximum number of new calls named. */
const NAMED = 5;

/** Describes the new calls; republished calls are left out. */
function awaitingNews({ thread, pending, at }: EventOf<'awaiting'>, known: KnownSessions): Line | null {
  const asked = pending.flatMap(({ key }) => {
    const found = knownCall(known, thread, key);
    return found?.call.askedAt === at ? [found.call] : [];
  });
  if (asked.length === 0) return null;
  const names = asked
    .slice(0, NAMED)
    .flatMap((call, index) => [...(index > 0 ? [say(' · ', 'dim')] : []), ...callLine(call)]);
  const rest = asked.length - NAMED;
  const count = asked.length === 1 ? 'a call' : `${asked.length} calls`;
  const more = rest > 0 && say(` and ${rest} more`, 'dim');
  return ofSession(withMark('received', line`waits for ${count}: ${names}${more}`), thread, known);
}

function answerNews(
  { thread, calls: [key] = [], at, by }: EventOf<'answered'>,
  known: KnownSessions,
): Line | null {
  const found = knownCall(known, thread, key);
  const answer = found && receivedAnswer(found);
  if (!found || !answer) return null;
  const { outcome, text } = answer;
  const does = say(by === 'platform' ? ' got ' : ' answered: ');
  const said = text !== null && line` ${clipped(text, 'plain', MAX)}`;
  const time = took(at - found.call.askedAt);
  const words = line`${callLine(found.call)}${does}${outcomeLine(outcome)}${said}${time}`;
  return ofSession(withMark(outcome.type === 'success' ? 'done' : 'failed', words), thread, known);
}
