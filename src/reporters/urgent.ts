import type { Event, RequestEvent, ResponseEvent } from '../exchange/events.js';
import type { Arrival } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Warning } from '../protocol/requirements.js';
import { arrivalWarnings, misdirected } from '../story/warnings.js';
import { visibleLine } from '../text/visible.js';
import type { Paper } from './reporter.js';
import { warningText } from './trouble.js';

const NEWS = new Set<Arrival['verdict']['kind']>(['rejected', 'discarded', 'late']);

/**
 * Told on stderr the moment it happens, in every output without a live view: what needs a person (a consent URL, whole),
 * and a callback that went wrong, since that is the usual reason for a "timeout".
 * @param told gets the message of every warning that was told
 */
export function urgentTeller(
  history: History,
  { stderr, quiet }: Paper,
  told: Set<string> = new Set(),
): (event: Event) => void {
  const isTimeToTell = tellingLess();
  return event => {
    if (event.kind === 'request') stderr.write(question(arrivalOf(history, event)));
    if (event.kind !== 'response' || quiet) return;
    for (const warning of newsOf(history, event)) {
      told.add(warning.message);
      if (isTimeToTell(warning)) stderr.write(warningText(warning));
    }
  };
}

function newsOf(history: History, event: ResponseEvent): readonly Warning[] {
  const arrival = arrivalOf(history, event);
  if (arrival) return NEWS.has(arrival.verdict.kind) ? arrivalWarnings(arrival) : [];
  const errand = history.errands.get(event.leg);
  return errand ? misdirected([errand]) : [];
}

function arrivalOf(history: History, { calls = [], leg }: RequestEvent | ResponseEvent): Arrival | undefined {
  const exchange = calls[0] === undefined ? undefined : history.exchanges.get(calls[0]);
  return exchange?.arrivals.find(arrival => arrival.leg === leg);
}

function question(arrival: Arrival | undefined): string {
  if (arrival?.verdict.kind !== 'holds') return '';
  const { message } = arrival;
  if (message?.type === 'oauth') return `visit this URL to go on: ${visibleLine(message.auth_url)}\n`;
  return message?.type === 'user_choice' ? `the tool asks: ${visibleLine(message.prompt)}\n` : '';
}

/** The first time, the tenth, the hundredth: a flood must not drown the rest. At the end it is told how many there were. */
function tellingLess(): (warning: Warning) => boolean {
  const counts = new Map<string, number>();
  return ({ id, message }) => {
    const kind = id === 'TOOL-OPAQUE' ? id : message; // a guesser's addresses differ each time
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return Number.isInteger(Math.log10(count));
  };
}
