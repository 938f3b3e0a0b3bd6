import { type Arrival, type Exchange, outcomeOf } from '../events/exchange.js';
import type { SubscriptionEvent, UserChoice } from '../protocol/callbacks.js';
import { formatDuration } from '../util/text.js';
import { clipped, type Line, line, quote, type Span, say, textLines, took } from './line.js';
import { lateText, recordedAnswer, refusalWords } from './warnings.js';

/** One line of the story of a call. */
export interface Step {
  /** A step with the same key is the same step, further on. */
  readonly key: string;
  /** Monotonic ms since the start. */
  readonly at: number;
  readonly state: 'done' | 'failed' | 'note' | 'running';
  readonly line: Line;
  /** The same on several lines, where there is room. */
  readonly lines?: readonly Line[];
}

export function step(key: string, at: number, state: Step['state'], words: Line): Step {
  return { key, at, state, line: words };
}

const MARKS: Readonly<Record<Step['state'], Span>> = {
  done: say('✓', 'good'),
  failed: say('✗', 'bad'),
  note: say('•', 'warn'),
  running: say('…', 'running'),
};

/** A step with its mark, on as many lines as it has. */
export function stepLines({ state, line: only, lines = [only] }: Step): readonly Line[] {
  return lines.map((each, index) => (index === 0 ? [MARKS[state], say(' '), ...each] : [say('  '), ...each]));
}

/** A step with its mark on one line; where it is running, with how long until `now` (ms since the start). */
export function stepLine({ state, line: words, at }: Step, now?: number): Line {
  const isRunning = state === 'running' && now !== undefined;
  const time = isRunning && say(` ${formatDuration(Math.max(0, now - at))}`, 'dim');
  return line`${MARKS[state]} ${words}${time}`;
}

/** Characters of an event's text, or of a reason; other outputs have all of it. */
const MOST = 4_000;

type Verdicts = Arrival['verdict'];

/** What a step says of a callback, by the verdict on it. */
type ArrivalWords<Kind extends Verdicts['kind']> = (
  arrival: Arrival & { readonly verdict: Extract<Verdicts, { kind: Kind }> },
  exchange: Exchange,
  number: number,
) => readonly [Step['state'], Line];

const ARRIVALS: { readonly [Kind in Verdicts['kind']]: ArrivalWords<Kind> } = {
  settles({ at }, exchange) {
    const asked = exchange.arrivals.findLast(({ verdict }) => verdict.kind === 'holds');
    const isGranted = asked?.message?.type === 'oauth' && outcomeOf(exchange)?.type === 'success';
    const opens = exchange.subscription ? '; it opened a subscription' : '';
    return ['done', line`result${afterSent(exchange, at)}${isGranted && '; consent was given'}${opens}`];
  },
  holds: ({ message }) => ['note', questionLine(message)],
  noted: ({ message, progress, at }, exchange, number) => [
    'note',
    line`${progress ? progressWords(progress) : messageWords(message, number)}${afterSent(exchange, at)}`,
  ],
  ignored: ({ message, verdict }) => [
    'note',
    line`${nameOf(message)} ignored: ${clipped(verdict.reason, 'plain', MOST)}`,
  ],
  duplicate({ message, verdict, at }, exchange) {
    const again = verdict.identical ? 'delivered again' : 'with other content';
    return ['note', line`${nameOf(message)} ${again}; the first counts${afterSent(exchange, at)}`];
  },
  late: ({ message, at }, exchange) => [
    'note',
    [say(lateText(message, exchange.settled, msSinceSent(exchange, at)))],
  ],
  discarded: refusedWords,
  rejected: refusedWords,
};

function refusedWords(
  arrival: Arrival & { readonly verdict: Extract<Verdicts, { kind: 'rejected' | 'discarded' }> },
) {
  const { message, verdict } = arrival;
  const { kind, status, reason } = verdict;
  const how = recordedAnswer(arrival) === null ? `${kind} with ${status}` : refusalWords(arrival, verdict);
  return ['failed', line`${nameOf(message)} ${how}: ${clipped(reason, 'plain', MOST)}`] as const;
}

/** One callback. @param number of the event in its subscription, from 1, where it is one */
export function arrivalStep(exchange: Exchange, arrival: Arrival, number: number): Step {
  const { leg, at, verdict, message } = arrival;
  const wordsOf = ARRIVALS[verdict.kind] as ArrivalWords<Verdicts['kind']>;
  const [state, words] = wordsOf(arrival, exchange, number);
  const answered = recordedAnswer(arrival);
  const isQuestion = verdict.kind === 'holds' && message?.type === 'user_choice';
  return {
    ...step(`arrival:${leg}`, at, state, answered === null ? words : line`${words}; ${quote(answered)}`),
    ...(isQuestion && { lines: questionLines(message) }),
  };
}

function nameOf(message: Arrival['message']): string {
  return message?.type ?? 'callback';
}

/** Nothing where another program made the call. */
function afterSent(exchange: Exchange, at: number): Span | null {
  const ms = msSinceSent(exchange, at);
  return ms === null ? null : took(ms);
}

function msSinceSent({ attempts: [first] }: Exchange, at: number): number | null {
  return first ? at - first.sentAt : null;
}

function messageWords(message: Arrival['message'], number: number): Line {
  if (message?.type === 'subscription_event')
    return line`${eventWords(message, number)}: ${clipped(message.text, 'plain', MOST)}`;
  if (message?.type !== 'view_update') return [say(nameOf(message))];
  const isCleared = Object.keys(message.content).length === 0;
  return line`view ${quote(message.view_type, 'title')} ${isCleared ? 'cleared' : 'updated'}`;
}

function progressWords({ progress, total, message }: NonNullable<Arrival['progress']>): Line {
  const share = total !== undefined && total > 0 && ` of ${total}`;
  return line`progress ${progress}${share}${message !== undefined && line`: ${clipped(message, 'plain', MOST)}`}`;
}

/** The event of a subscription that a callback is, where it counts. */
export function eventOf({ verdict, message }: Arrival): SubscriptionEvent | null {
  return verdict.kind === 'noted' && message?.type === 'subscription_event' ? message : null;
}

/** Which event it is, and into which conversation it goes. */
export function eventWords({ associative, final }: SubscriptionEvent, number: number): string {
  const place = associative ? 'this thread (associative)' : 'child thread';
  return `${final ? 'last event' : 'event'} ${number} → ${place}`;
}

/** Lines of a prompt, choices, and characters of a choice that are shown. */
const SHOWN = { lines: 200, choices: 1_000, characters: 2_000 };

/** Choices that are named on one line. */
const NAMED = 20;

const DEFAULT = say(' (default)', 'dim');

/** The question of a tool: the lines of its prompt, then its choices. */
export function questionLines({ prompt, choices, default: preset }: UserChoice): Line[] {
  const { lines, total } = textLines(prompt, SHOWN.lines);
  const more = (count: number, what: string): Line[] =>
    count > 0 ? [[say(`… ${count} more ${what}`, 'dim')]] : [];
  const [first = [], ...others] = lines.map(each =>
    each.map(span => (span.tone === 'plain' ? say(span.text, 'title') : span)),
  );
  return [
    line`the tool asks: ${first}`,
    ...others,
    ...more(total - lines.length, 'lines'),
    ...choices.slice(0, SHOWN.choices).map((choice, index) => {
      const label = clipped(choice, 'plain', SHOWN.characters);
      return line`${say(`${index} `, 'gutter')}${label}${index === preset && DEFAULT}`;
    }),
    ...more(choices.length - SHOWN.choices, 'choices'),
  ];
}

/** The question of a tool on one line. */
function questionLine(message: Arrival['message']): Line {
  if (message?.type === 'oauth') return line`visit ${quote(message.auth_url, 'title')} to continue`;
  if (message?.type !== 'user_choice') return [];
  const { prompt, choices, default: preset } = message;
  const named = choices
    .slice(0, NAMED)
    .flatMap((choice, index) => line`${say(`  ${index} `, 'dim')}${choice}${index === preset && DEFAULT}`);
  const rest = choices.length - NAMED;
  return line`the tool asks: ${clipped(prompt, 'title')}${named}${rest > 0 && say(`  and ${rest} more`, 'dim')}`;
}
