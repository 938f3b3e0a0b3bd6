import type { Event } from '../../exchange/events.js';
import type { SessionRequest } from '../../exchange/session/sessions.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { news } from '../tool-calls/news/line.js';
import { refusalWords } from './refusal-words.js';

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/** What became of a request of the session API; null where it only asked, and was told. */
export function requestNews(event: EndEvent, request: SessionRequest): Line | null {
  return request.purpose === 'tool_results' ? postNews(event, request) : otherNews(event, request);
}

function postNews(event: EndEvent, request: SessionRequest): Line {
  const { attempt, at } = request;
  const which = attempt > 1 ? ` at attempt ${attempt}` : '';
  const what = resultsIn(event, request);
  const took = tookWords(event.at - at);
  if (event.kind === 'broken')
    return news(
      'warning',
      say(`${what} posted${which}, but `),
      ...clipped(event.code, 'warn'),
      took,
      say(': nobody knows whether they arrived', 'warn'),
    );
  const { status, body } = event;
  if (status >= 200 && status < 300)
    return news('done', say(`${what} posted${which}, answered ${status}`), took);
  if (status === 409)
    return news(
      'note',
      say(`${what} posted${which}, answered 409`, 'warn'),
      took,
      say(': the session had finished', 'warn'),
    );
  return news('failed', say(`${what} refused${which} with ${status}`, 'bad'), took, ...refusalWords(body));
}

function resultsIn(event: EndEvent, { calls = [] }: SessionRequest): string {
  const { size } = new Set([...calls, ...(event.calls ?? [])]);
  return size === 0 ? 'results' : size === 1 ? '1 result' : `${size} results`;
}

function otherNews(event: EndEvent, { method, url, at, attempt }: SessionRequest): Line | null {
  const which = attempt > 1 ? ` at attempt ${attempt}` : '';
  const what: Line = [...clipped(`${method} ${placeOf(url)}`), say(which)];
  const took = tookWords(event.at - at);
  if (event.kind === 'broken')
    return news('warning', ...what, say(' was not answered: '), ...clipped(event.code, 'warn'), took);
  const { status, body } = event;
  if (status >= 400)
    return news('failed', ...what, say(` answered ${status}`, 'bad'), took, ...refusalWords(body));
  return method === 'GET' ? null : news('note', ...what, say(` answered ${status}`), took);
}

function tookWords(milliseconds: number) {
  return say(` in ${formatDuration(Math.max(0, milliseconds))}`, 'dim');
}

/** A path within the API, without its query. */
function placeOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  const [, place] = /\/api\/v2(\/.*)$/.exec(path) ?? [];
  return place ?? path;
}
