import type { Event } from '../../../exchange/events.js';
import { type ToolCall, typeOfDelivery } from '../../../exchange/tool-call.js';
import { formatDuration } from '../../../text/format-duration.js';
import type { Line, Tone } from '../../line.js';
import { quote, say } from '../../spans.js';
import { answeredBy } from '../answered-by.js';
import { callName } from '../call-name.js';
import { clipped } from '../clip.js';
import { secretsOf } from '../secrets.js';
import { attemptNews, deliveryOf } from './attempts.js';
import { decisionNews } from './decisions.js';
import { about, news } from './line.js';
import { noticeNews } from './notices.js';

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
      ? about(call, 'note', say(`came again, ${call.arrivals} times now`))
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
    if (plan === 'demand') return about(call, 'note', say('waits to be fired: POST /__mock__/fire', 'warn'));
    if (plan === 'silence') return about(call, 'note', say('gets no result, as planned'));
    return about(call, 'note', say(`${by}: `, 'dim'), ...quote(plan, 'warn'));
  },
  warned: ({ message }, call) => about(call, 'warning', ...foreign(message, call, 'warn')),
  dropped: (event, call) => {
    const { what, why, count } = event;
    const many = count === 1 ? '' : `${count} times `;
    const type = droppedType(event, call) ?? what;
    return about(call, 'failed', ...quote(type), say(` ${many}given up: `), ...foreign(why, call, 'bad'));
  },
  decided: decisionNews,
  expired: ({ what, afterMs }, call) => {
    if (what !== 'answer') return null;
    const within = afterMs > 0 ? ` within ${formatDuration(afterMs)}` : '';
    return about(call, 'note', say(`nobody answered${within}`, 'warn'));
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
