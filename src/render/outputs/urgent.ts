import type { Event } from '../../events/events.js';
import type { Arrival, Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Warning } from '../../protocol/requirements.js';
import { visibleLine } from '../../util/visible.js';
import {
  arrivalOf,
  arrivalWarnings,
  lateText,
  misdirected,
  newArrivalOf,
  noticeWarnings,
} from '../warnings.js';
import type { Paper } from './reporter.js';
import { warningText } from './trouble.js';

const NEWS = new Set<Arrival['verdict']['kind']>(['rejected', 'discarded', 'late']);

/** Texts of one requirement that are told each by itself, and those that are remembered as told. */
const MOST = { texts: 10, told: 1_000 };

/**
 * Told on stderr the moment it happens, in every output without a live view: what needs a person (a consent URL, whole),
 * and what went wrong with a callback or a selection, since that is the usual reason for a "timeout".
 * @param told gets the message of every warning that was told
 */
export function urgentTeller(
  history: History,
  { stderr, quiet }: Paper,
  told: Set<string> = new Set(),
): (event: Event) => void {
  const isTimeToTell = tellingLess();
  return event => {
    const asked = question(newArrivalOf(history, event));
    if (asked !== '') stderr.write(asked);
    if (quiet || (event.kind !== 'response' && event.kind !== 'broken')) return;
    for (const { warning, text } of newsOf(history, event)) {
      if (told.size < MOST.told) told.add(warning.message);
      if (isTimeToTell(warning)) stderr.write(text);
    }
  };
}

/** Something to be told, and as what it counts: not all of it is anybody's fault. */
interface News {
  readonly warning: Warning;
  readonly text: string;
}

const asNews = (warning: Warning): News => ({ warning, text: warningText(warning) });

function newsOf(history: History, event: Extract<Event, { kind: 'response' | 'broken' }>): readonly News[] {
  const found = arrivalOf(history, event);
  if (found) return NEWS.has(found.arrival.verdict.kind) ? arrivalNews(found) : [];
  const request = history.untracked.get(event.leg);
  if (!request) return [];
  return (request.purpose === 'choice' ? noticeWarnings(request) : misdirected([request])).map(asNews);
}

/** What came after a cancel may have crossed it: that is told, and no warning. */
function arrivalNews({
  arrival,
  exchange,
}: {
  readonly arrival: Arrival;
  readonly exchange: Exchange;
}): News[] {
  const { verdict, message } = arrival;
  if (verdict.kind !== 'late' || exchange.settled?.by !== 'cancel')
    return arrivalWarnings(arrival, exchange).map(asNews);
  const text = `a ${lateText(message, exchange.settled)}`;
  return [{ warning: { message: text }, text: `${text}\n` }];
}

function question(arrival: Arrival | null): string {
  if (arrival?.verdict.kind !== 'holds') return '';
  const { message } = arrival;
  if (message?.type === 'oauth') return `visit this URL to continue: ${visibleLine(message.auth_url)}\n`;
  return message?.type === 'user_choice' ? `the tool asks: ${visibleLine(message.prompt)}\n` : '';
}

/**
 * The first time, the tenth, the hundredth: a flood must not drown the rest, nor one that says something else each time (threats,
 * row 15). At the end it is told how many there were.
 */
function tellingLess(): (warning: Warning) => boolean {
  const counts = new Map<string, number>();
  const texts = new Map<Warning['id'], number>();
  const subjectOf = ({ id, message }: Warning) => {
    if (id === 'TOOL-OPAQUE') return id; // a guesser's addresses differ each time
    if (counts.has(message)) return message;
    const known = texts.get(id) ?? 0;
    texts.set(id, known + 1);
    return known < MOST.texts ? message : `other texts: ${id}`;
  };
  return warning => {
    const subject = subjectOf(warning);
    const count = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, count);
    return Number.isInteger(Math.log10(count));
  };
}
