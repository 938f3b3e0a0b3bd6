import type { Event, RequestEvent } from '../events/events.js';
import { type CallbackDelivery, type ToolCall, typeOfDelivery } from '../events/tool-call.js';
import { formatDuration } from '../util/format-duration.js';
import { callName, clipped, type Line, quote, type Span, say, type Tone } from './line.js';
import { answeredBy } from './tool-call-details.js';
import { decidedBy, decidedLabel, faultOf, isTaken, secretsOf } from './tool-calls/call-state.js';

type NewsKind = 'received' | 'done' | 'failed' | 'note' | 'warning';

const MARKS: Readonly<Record<NewsKind, Span>> = {
  received: say('→', 'running'),
  done: say('✓', 'good'),
  failed: say('✗', 'bad'),
  note: say('•', 'dim'),
  warning: say('!', 'warn'),
};

export function news(kind: NewsKind, ...line: Line): Line {
  return [MARKS[kind], say(' '), ...line];
}

/** News of a call begin with its name; without one they stand alone. */
function about(call: ToolCall | undefined, kind: NewsKind, ...line: Line): Line {
  return call ? news(kind, ...callName(call), say(' '), ...line) : news(kind, ...line);
}

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/** What became of an attempt to deliver a callback, and of an invocation that was not simply acknowledged. */
function attemptNews(event: EndEvent, call: ToolCall | undefined): Line | null {
  if (!call) return null;
  const { leg } = event;
  if (leg === call.acknowledgement.leg)
    return call.isDirect ? answerNews(event, call) : acknowledgementNews(event, call);
  const delivery = deliveryOf(call, leg);
  const index = delivery?.attempts.findIndex(each => each.leg === leg) ?? -1;
  const attempt = delivery?.attempts[index];
  if (!delivery || !attempt) return otherNews(event, call);
  const { at, endedAt = at, status = 500 } = attempt;
  const type = quote(typeOfDelivery(delivery) ?? 'callback');
  const took = say(` in ${formatDuration(endedAt - at)}`, 'dim');
  const which = index > 0 ? ` at attempt ${index + 1}` : '';
  if (isTaken(status)) return about(call, 'done', ...type, say(` delivered${which}`), took);
  if (status < 500) return null; // it is final, and told as given up
  return about(call, 'note', ...type, say(` attempt ${index + 1} failed: ${faultOf(attempt)}`, 'warn'), took);
}

/** The callback that a leg is an attempt of. */
function deliveryOf(call: ToolCall | undefined, leg: string): CallbackDelivery | undefined {
  return call?.deliveries.findLast(({ attempts }) => attempts.some(each => each.leg === leg));
}

/** Of a client that is not called back. */
function answerNews(event: EndEvent, call: ToolCall): Line | null {
  const took = say(` after ${formatDuration(event.at - call.receivedAt)}`, 'dim');
  if (event.kind === 'response') return about(call, 'done', say('answered'), took);
  if (call.isSilent) return null; // it has been said
  return about(call, 'note', say('got no answer: '), ...quote(event.code, 'warn'), took);
}

function acknowledgementNews(event: EndEvent, call: ToolCall): Line | null {
  if (event.kind === 'broken') return about(call, 'note', say('was not acknowledged (planned)', 'warn'));
  return event.status === 200 ? null : about(call, 'failed', say(`was refused with ${event.status}`, 'bad'));
}

/** An answer of the user that is none, or the like. */
function otherNews(event: EndEvent, call: ToolCall): Line | null {
  if (event.kind === 'broken' || event.status < 400) return null;
  return about(call, 'failed', say(`a request about it was refused with ${event.status}`, 'warn'));
}

/** What was chosen, by its label; what was granted or refused. */
function decisionNews(event: Extract<Event, { kind: 'decided' }>, call: ToolCall | undefined): Line | null {
  const { what } = event;
  if (what !== 'choice' && what !== 'consent') return null;
  const label = quote(decidedLabel(event, call), 'title');
  return about(call, 'done', say(`${what} `), ...label, say(` ${decidedBy(event)}`, 'dim'));
}

/** What a runtime says besides invocations; null for any other request. */
function noticeNews({ purpose, thread }: RequestEvent, call: ToolCall | undefined): Line | null {
  switch (purpose) {
    case 'cancel':
      return call ? about(call, 'note', say('was canceled')) : ofThread(thread, 'cancels an unknown call');
    case 'close':
      return ofThread(thread, 'was closed');
    case 'migrate':
      return ofThread(thread, 'was migrated');
    default:
      return null;
  }
}

function ofThread(thread: string | undefined, does: string): Line {
  const who = thread === undefined ? [say('a thread')] : [say('thread '), ...clipped(thread, 'title')];
  return news('note', ...who, say(` ${does}`));
}

type About = ToolCall | undefined;
type Tell<K extends Event['kind']> = (event: Extract<Event, { kind: K }>, call: About) => Line | null;

/**
 * An event in a line, as it happens; null where it is no news by itself.
 * @param call as it is after the event, where the event is about one that is remembered
 */
export function newsOf(event: Event, call: About): Line | null {
  const tell = TELLING[event.kind] as Tell<Event['kind']>;
  return tell(event, call);
}

const TELLING: { readonly [K in Event['kind']]: Tell<K> } = {
  request: (event, call) => {
    if (event.purpose !== 'invocation') return noticeNews(event, call);
    return call && call.arrivals > 1
      ? about(call, 'note', say(`received again (${call.arrivals} times)`))
      : null;
  },
  response: attemptNews,
  broken: attemptNews,
  matched: ({ fixture }, call) => {
    // Where nothing matched, a warning has said so, and why.
    if (!call || (fixture === null && call.warnings.length > 0)) return null;
    return news('received', ...callName(call), say(' answered by ', 'dim'), ...answeredBy(call));
  },
  planned: ({ by, plan }, call) => {
    if (plan === 'rate-limit') return about(call, 'note', say('is over the rate limit', 'warn'));
    if (plan === 'demand')
      return about(call, 'note', say('waiting: send it with POST /__mock__/fire', 'warn'));
    if (plan === 'silence') return about(call, 'note', say('gets no result (planned)'));
    return about(call, 'note', say(`${by}: `, 'dim'), ...quote(plan, 'warn'));
  },
  warned: ({ message }, call) => about(call, 'warning', ...foreign(message, call, 'warn')),
  dropped: (event, call) => {
    const { what, why, count } = event;
    const many = count === 1 ? '' : `${count} times `;
    const type = droppedType(event, call) ?? what;
    return about(
      call,
      'failed',
      ...quote(type),
      say(` ${many}not delivered: `),
      ...foreign(why, call, 'bad'),
    );
  },
  decided: decisionNews,
  expired: ({ what, afterMs }, call) => {
    if (what !== 'answer') return null;
    const within = afterMs > 0 ? ` within ${formatDuration(afterMs)}` : '';
    return about(call, 'note', say(`no answer${within}`, 'warn'));
  },
  shaped: ({ by, changes }, call) => {
    if (by === 'verbatim' || changes.length === 0) return null;
    const told = changes.map(({ path, change }) => `${change} ${path}`).join(', ');
    return about(call, 'note', say('middleware ', 'dim'), ...clipped(told));
  },
  loaded: () => null,
  expected: () => null,
  denied: () => null,
  session: () => null,
  awaiting: () => null,
  answered: () => null,
};

/** The type of the message that is not delivered; null where it is none. */
function droppedType({ leg, type }: Extract<Event, { kind: 'dropped' }>, call: About): string | null {
  if (type !== undefined) return type;
  const delivery = leg === undefined ? undefined : deliveryOf(call, leg);
  return delivery ? typeOfDelivery(delivery) : null;
}

/** What an error says may name the URL it is about (threats, row 25). */
function foreign(text: string, call: About, tone: Tone): Line {
  return clipped(call ? secretsOf(call).text(text) : text, tone, 2_000);
}
