import type { Event, EventKind } from '../../exchange/events.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Redactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { breakWords, requestWords, responseWords } from './wire-words.js';

type Tell<Kind extends EventKind> = (event: Extract<Event, { kind: Kind }>, redactor: Redactor) => Line;

/** Characters of one foreign text. */
const MOST = 2_000;

/** Any fact on one line: what was on the wire, what was decided, what was waited for in vain. Secrets out. */
export function eventWords(event: Event, redactor: Redactor): Line {
  const tell = WORDS[event.kind] as Tell<EventKind>;
  return tell(event, redactor);
}

const WORDS: { readonly [Kind in EventKind]: Tell<Kind> } = {
  request: requestWords,
  response: responseWords,
  broken: breakWords,
  expected: () => [say('expected', 'title'), say(': somebody else sends the invocation')],
  answered: ({ by, unexpected = [] }, redactor) => {
    const odd = unexpected.flatMap(what => [say('; ', 'dim'), ...foreign(what, redactor)]);
    return [say('answered', 'title'), say(` by the ${by}`), ...odd];
  },
  denied: ({ by, reason }, redactor) => [
    say('denied', 'title'),
    say(` by a ${by}: `),
    ...foreign(reason, redactor),
  ],
  loaded: ({ toolset, operations }, redactor) => {
    const count = `${operations.length} operation${operations.length === 1 ? '' : 's'}`;
    return [say('loaded', 'title'), say(' '), ...foreign(toolset, redactor), say(`, ${count}`, 'dim')];
  },
  decided: ({ what, by, value }, redactor) => {
    const chosen = value === undefined ? [] : [say(' '), ...foreign(String(value), redactor)];
    return [say('decided', 'title'), say(` ${what}`), ...chosen, say(` by a ${by}`, 'dim')];
  },
  expired: ({ what, afterMs }) => [
    say('expired', 'title'),
    say(` ${what}`),
    say(` after ${formatDuration(afterMs)}`, 'dim'),
  ],
  matched: ({ fixture, nearest }, redactor) => {
    if (fixture !== null) return [say('matched', 'title'), say(' '), ...foreign(fixture, redactor)];
    const near = nearest ? [say('; the nearest is '), ...foreign(nearest.fixture, redactor)] : [];
    return [say('matched', 'title'), say(' by no fixture', 'warn'), ...near];
  },
  shaped: ({ by, changes }, redactor) => [
    say('shaped', 'title'),
    say(` by ${by}: `),
    ...foreign(changes.map(({ path, change }) => `${change} ${path}`).join(', '), redactor),
  ],
  planned: ({ by, plan }, redactor) => [
    say('planned', 'title'),
    say(` by a ${by}: `),
    ...foreign(plan, redactor),
  ],
  warned: ({ message }, redactor) => [say('warned', 'title'), say(' '), ...foreign(message, redactor)],
  session: ({ status }, redactor) => [say('session', 'title'), say(' '), ...foreign(status, redactor)],
  awaiting: ({ pending }) => [
    say('awaiting', 'title'),
    say(` ${pending.length} call${pending.length === 1 ? '' : 's'}`),
  ],
  dropped: ({ what, why, count }, redactor) => [
    say('dropped', 'title'),
    say(` ${count === 1 ? '' : `${count} × `}${what}: `),
    ...foreign(why, redactor),
  ],
};

function foreign(text: string, redactor: Redactor): Line {
  return clipped(redactor.text(text), 'plain', MOST);
}
