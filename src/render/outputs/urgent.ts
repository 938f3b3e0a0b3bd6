import type { Event } from '../../events/events.js';
import type { Arrival, Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Warning } from '../../protocol/requirements.js';
import { visibleLine } from '../../util/visible.js';

import { arrivalOf, arrivalWarnings, lateText, newArrivalOf } from '../callbacks.js';
import { misdirected, noticeWarnings } from '../warnings.js';
import type { Paper } from './reporter.js';
import { warningText } from './trouble.js';

/** Messages that are remembered as printed. */
const MOST_TOLD = 1_000;

/**
 * Writes to stderr at once, in every output without a live view: what the user has to do (a consent URL, whole), and what went wrong
 * with a callback or a selection: the usual reason for a "timeout".
 * @param told gets the message of every warning that was printed
 */
export function urgentTeller(
  history: History,
  { stderr, quiet }: Paper,
  told: Set<string> = new Set(),
): (event: Event) => void {
  const isDue = rarely();
  return event => {
    const question = questionText(newArrivalOf(history, event));
    if (question !== '') stderr.write(question);
    if (quiet || (event.kind !== 'response' && event.kind !== 'broken')) return;
    for (const { warning, text = warningText(warning) } of newsOf(history, event)) {
      if (told.size < MOST_TOLD) told.add(warning.message);
      if (isDue(warning)) stderr.write(text);
    }
  };
}

/** A warning, and its text where it is not printed as a warning. */
interface News {
  readonly warning: Warning;
  readonly text?: string;
}

function newsOf(history: History, event: Extract<Event, { kind: 'response' | 'broken' }>): readonly News[] {
  const found = arrivalOf(history, event);
  if (found) return arrivalNews(found.arrival, found.exchange);
  const request = history.untracked.get(event.leg);
  if (!request) return [];
  const warnings = request.purpose === 'choice' ? noticeWarnings(request) : misdirected([request]);
  return warnings.map(warning => ({ warning }));
}

function arrivalNews(arrival: Arrival, exchange: Exchange): readonly News[] {
  const { kind } = arrival.verdict;
  if (kind !== 'rejected' && kind !== 'discarded' && kind !== 'late') return [];
  // A callback that came after a cancel may have crossed it: the tool is not to blame.
  if (kind === 'late' && exchange.settled?.by === 'cancel') {
    const message = `a ${lateText(arrival, exchange)}`;
    return [{ warning: { message }, text: `${message}\n` }];
  }
  return arrivalWarnings(arrival, exchange).map(warning => ({ warning }));
}

function questionText(arrival: Arrival | null): string {
  if (arrival?.verdict.kind !== 'holds') return '';
  const { message } = arrival;
  if (message?.type === 'oauth') return `visit this URL to continue: ${visibleLine(message.auth_url)}\n`;
  return message?.type === 'user_choice' ? `the tool asks: ${visibleLine(message.prompt)}\n` : '';
}

/** Texts of one requirement that are printed one by one. */
const MOST_TEXTS = 10;

/**
 * Whether a warning is the first, the tenth, the hundredth of its kind: a flood must not hide the rest, nor one whose texts all differ
 * (threats, row 15). The end says how many there were.
 */
function rarely(): (warning: Warning) => boolean {
  const counts = new Map<string, number>();
  const texts = new Map<Warning['id'], number>();
  const subjectOf = ({ id, message }: Warning) => {
    if (id === 'TOOL-OPAQUE') return id; // guessed addresses all differ
    if (counts.has(message)) return message;
    const known = texts.get(id) ?? 0;
    texts.set(id, known + 1);
    return known < MOST_TEXTS ? message : `other texts: ${id}`;
  };
  return warning => {
    const subject = subjectOf(warning);
    const count = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, count);
    return Number.isInteger(Math.log10(count));
  };
}
