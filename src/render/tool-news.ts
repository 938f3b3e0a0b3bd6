import type { EndEvent, Event, EventKind, EventOf, RequestEvent } from '../events/events.js';
import { isAccepted } from '../events/round-trips.js';
import { type CallbackDelivery, type ToolCall, typeOfDelivery } from '../events/tool-call.js';
import { formatDuration } from '../util/text.js';
import { clipped, DRIVER_ARROWS, type Line, line, type Mark, quote, say, took, withMark } from './line.js';
import type { KnownSessions } from './session-calls.js';
import { sessionNews } from './session-news.js';
import { answeredBy, callName, decisionWords, faultOf, withoutSecrets } from './tool-calls.js';

/** The call that an event is about, if it is still remembered. */
type CallOfEvent = ToolCall | undefined;

/** State that includes the event: the call of a mock, or agent sessions. */
interface Known extends KnownSessions {
  readonly call?: CallOfEvent;
}

type NewsOf<Kind extends EventKind, State> = (event: EventOf<Kind>, state: State) => Line | null;

/** What is reported of each kind of event; null for kinds that are not reported. */
type News<State> = { readonly [Kind in EventKind]: NewsOf<Kind, State> | null };

/** Describes an event of a mock or of an agent session on one line; null if there is nothing to report. */
export function newsOf(event: Event, known: Known): Line | null {
  return known.sessions ? newsIn(SESSION_NEWS, event, known) : newsIn(CALL_NEWS, event, known.call);
}

function newsIn<State>(news: News<State>, event: Event, state: State): Line | null {
  const describe = news[event.kind] as NewsOf<EventKind, State> | null;
  return describe?.(event, state) ?? null;
}

const CALL_NEWS: News<CallOfEvent> = {
  request(event, call) {
    if (event.purpose !== 'invocation') return noticeNews(event, call);
    return call && call.arrivals > 1
      ? about(call, 'aside', line`received again (${call.arrivals} times)`)
      : null;
  },
  response: endNews,
  broken: endNews,
  matched({ fixture }, call) {
    // If nothing matched, a warning has already given the reason.
    if (!call || (fixture === null && call.warnings.length > 0)) return null;
    return about(call, 'received', [say('answered by ', 'dim'), ...answeredBy(call)]);
  },
  planned: plannedNews,
  warned: warnedNews,
  dropped: droppedNews,
  decided: (event, call) =>
    event.what === 'choice' || event.what === 'consent'
      ? about(call, 'done', decisionWords(event, call))
      : null,
  expired(event, call) {
    const { what, afterMs } = event;
    const within = afterMs > 0 ? ` within ${formatDuration(afterMs)}` : '';
    return what === 'answer' ? about(call, 'aside', [say(`no answer${within}`, 'warn')]) : silenceNews(event);
  },
  shaped({ by, changes }, call) {
    if (by === 'verbatim' || changes.length === 0) return null;
    const list = changes.map(({ path, change }) => `${change} ${path}`).join(', ');
    return about(call, 'aside', line`${say('middleware ', 'dim')}${list}`);
  },
  driver({ from, body, ended }) {
    const text = clipped(ended ?? body?.text ?? '', 'plain', MAX_OF_DRIVER);
    return withMark('aside', line`${say(`driver ${DRIVER_ARROWS[from]}`, 'dim')} ${text}`);
  },
  exited: null,
  session: null,
  awaiting: null,
  answered: null,
  loaded: null,
  expected: null,
  denied: null,
};

const SESSION_NEWS: News<KnownSessions> = {
  request: null,
  response: sessionNews,
  broken: sessionNews,
  matched: null,
  planned: event => plannedNews(event),
  warned: event => warnedNews(event),
  dropped: event => droppedNews(event),
  decided: null,
  expired: silenceNews,
  shaped: null,
  driver: null,
  exited: null,
  session: sessionNews,
  awaiting: sessionNews,
  answered: sessionNews,
  loaded: null,
  expected: null,
  denied: null,
};

/** Maximum length of a driver's message, in characters. */
const MAX_OF_DRIVER = 2_000;

/** Puts the name of the call before the text. */
function about(call: CallOfEvent, mark: Mark, words: Line): Line {
  return withMark(mark, call ? line`${callName(call)} ${words}` : words);
}

const PLANS: Readonly<Record<string, Line>> = {
  'rate-limit': [say('is over the rate limit', 'warn')],
  demand: [say('waiting: send it with POST /__mock__/fire', 'warn')],
  silence: [say('gets no result (planned)')],
  message: [say('gets a message as it is in the fixture (planned)')],
};

function plannedNews({ by, plan }: EventOf<'planned'>, call?: CallOfEvent): Line {
  return about(call, 'aside', PLANS[plan] ?? [say(`${by}: `, 'dim'), ...quote(plan, 'warn')]);
}

function warnedNews({ message }: EventOf<'warned'>, call?: CallOfEvent): Line {
  return about(call, 'warning', withoutSecrets(message, call, 'warn'));
}

function droppedNews({ what, why, count, leg, type }: EventOf<'dropped'>, call?: CallOfEvent): Line {
  const delivery = call && leg !== undefined ? deliveryOf(call, leg) : undefined;
  const name = type ?? (delivery && typeOfDelivery(delivery)) ?? what;
  const many = count === 1 ? '' : `${count} times `;
  return about(call, 'failed', line`${name} ${many}not delivered: ${withoutSecrets(why, call, 'bad')}`);
}

/** Reports that a session had no news; the end of other waits is reported by the calls. */
function silenceNews({ what, afterMs, calls }: EventOf<'expired'>): Line | null {
  const isOfSession = what === 'timeout' && !calls;
  return isOfSession ? withMark('failed', [say(`no news for ${formatDuration(afterMs)}`, 'bad')]) : null;
}

/** Describes the notices of a runtime; null for other requests. */
function noticeNews({ purpose, thread }: RequestEvent, call: CallOfEvent): Line | null {
  const name = thread === undefined ? 'a thread' : line`thread ${clipped(thread, 'title')}`;
  if (purpose === 'cancel')
    return about(call, 'aside', call ? line`was canceled` : line`${name} cancels an unknown call`);
  if (purpose === 'close') return withMark('aside', line`${name} was closed`);
  return purpose === 'migrate' ? withMark('aside', line`${name} was migrated`) : null;
}

/** The result of a callback delivery, or of an invocation that was not acknowledged with 200. */
function endNews(event: EndEvent, call: CallOfEvent): Line | null {
  if (!call) return null;
  if (event.leg === call.acknowledgement.leg) return acknowledgementNews(event, call);
  const delivery = deliveryOf(call, event.leg);
  const index = delivery?.attempts.findIndex(({ leg }) => leg === event.leg) ?? -1;
  const attempt = delivery?.attempts[index];
  if (!delivery || !attempt) {
    if (event.kind === 'broken' || event.status < 400) return null;
    return about(call, 'failed', [say(`a request about it was refused with ${event.status}`, 'warn')]);
  }
  const { at, endedAt = at, status = 500 } = attempt;
  const type = typeOfDelivery(delivery) ?? 'callback';
  const time = took(endedAt - at, 'in');
  if (isAccepted(attempt))
    return about(call, 'done', line`${type} delivered${index > 0 && ` at attempt ${index + 1}`}${time}`);
  if (status < 500) return null; // final, so it is reported as dropped
  const failed = say(` attempt ${index + 1} failed: ${faultOf(attempt)}`, 'warn');
  return about(call, 'aside', line`${type}${failed}${time}`);
}

function deliveryOf(call: ToolCall, leg: string): CallbackDelivery | undefined {
  return call.deliveries.findLast(({ attempts }) => attempts.some(each => each.leg === leg));
}

function acknowledgementNews(event: EndEvent, call: ToolCall): Line | null {
  if (call.isDirect) {
    const time = took(event.at - call.receivedAt);
    if (event.kind === 'response') return about(call, 'done', line`answered${time}`);
    // An intentional missing answer was reported before.
    return call.isSilent
      ? null
      : about(call, 'aside', line`got no answer: ${quote(event.code, 'warn')}${time}`);
  }
  if (event.kind === 'broken') return about(call, 'aside', [say('was not acknowledged (planned)', 'warn')]);
  return event.status === 200
    ? null
    : about(call, 'failed', [say(`was refused with ${event.status}`, 'bad')]);
}
