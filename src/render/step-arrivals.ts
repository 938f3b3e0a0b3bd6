import type { VerdictKind } from '../events/exchange.js';
import { type Arrival, type Exchange, outcomeOf, type Selection } from '../events/exchange.js';
import type { UserChoice } from '../protocol/callbacks.js';
import { formatDuration } from '../util/format-duration.js';
import { clipped, type Line, quote, type Span, say, textLines } from './line.js';
import { eventOf, eventWords } from './steps/events.js';
import { lateText, recordedAnswer, refusalWords } from './warnings.js';

/** Of a prompt, and of choices; nobody is asked a book. */
const MOST_LINES = 200;
const MOST_CHOICES = 1_000;
/** Characters of a choice. */
const LONGEST = 2_000;

const DEFAULT = say(' (default)', 'dim');

/** What a tool asks: the lines of its prompt, then its choices, the default one marked. */
export function questionLines({ prompt, choices, default: preset }: UserChoice): Line[] {
  const { lines, total } = textLines(prompt, MOST_LINES);
  const [first = [], ...others] = lines.map(titled);
  return [
    [say('the tool asks: '), ...first],
    ...others,
    ...more(total - lines.length, 'lines'),
    ...choices.slice(0, MOST_CHOICES).map((choice, index): Line => {
      const mark = index === preset ? [DEFAULT] : [];
      return [say(`${index} `, 'gutter'), ...clipped(choice, 'plain', LONGEST), ...mark];
    }),
    ...more(choices.length - MOST_CHOICES, 'choices'),
  ];
}

function more(count: number, what: string): Line[] {
  return count > 0 ? [[say(`… ${count} more ${what}`, 'dim')]] : [];
}

function titled(line: Line): Line {
  return line.map(span => (span.tone === 'plain' ? say(span.text, 'title') : span));
}

/** One line of the story so far. */
export interface Step {
  /** Stable: a step with the same key is the same step, told further. */
  readonly key: string;
  /** Monotonic ms since the start. */
  readonly at: number;
  readonly state: 'done' | 'failed' | 'note' | 'running';
  readonly line: Line;
  /** The same on several lines, for where there is room. */
  readonly lines?: readonly Line[];
}

export function step(key: string, at: number, state: Step['state'], ...line: Line): Step {
  return { key, at, state, line };
}

export function after(milliseconds: number): Span {
  return say(` after ${formatDuration(milliseconds)}`, 'dim');
}

export function within(milliseconds: number): Span {
  return say(` in ${formatDuration(milliseconds)}`, 'dim');
}

/** More choices than this are only counted. */
const NAMED = 20;

/** What the tool asks the user. */
function questionLine(message: Arrival['message']): Line {
  if (message?.type === 'oauth')
    return [say('visit '), ...quote(message.auth_url, 'title'), say(' to continue')];
  if (message?.type !== 'user_choice') return [];
  const { prompt, choices, default: preset } = message;
  const rest = choices.length - NAMED;
  return [
    say('the tool asks: '),
    ...clipped(prompt, 'title'),
    ...choices
      .slice(0, NAMED)
      .flatMap((choice, index) => [
        say(`  ${index} `, 'dim'),
        ...clipped(choice),
        ...(index === preset ? [DEFAULT] : []),
      ]),
    ...(rest > 0 ? [say(`  and ${rest} more`, 'dim')] : []),
  ];
}

const PICKED: Readonly<Record<Selection['by'], string>> = {
  person: 'you picked',
  flag: '--choose picked',
  policy: 'the policy picked',
};

/** What was picked of a question's choices, and by whom. */
export function selectionStep(exchange: Exchange, { at, by, selected, question }: Selection): Step {
  const asked = exchange.questions.find(({ leg }) => leg === question)?.message;
  const { choices = [], default: preset } = asked?.type === 'user_choice' ? asked : {};
  const isDefault = selected === preset ? [say(' (the default)', 'dim')] : [];
  const label = clipped(choices[selected] ?? '', 'title');
  const key = `selection:${exchange.key}:${question}`;
  return step(key, at, 'done', say(`${PICKED[by]} ${selected} `), ...label, ...isDefault);
}

/** An event's text, or a reason, is read by a person; whoever wants all of it has the other outputs. */
const MOST = 4_000;

/** These are from before what is forgotten, often. */
const LASTING = new Set<VerdictKind>(['settles', 'holds']);

/** The latest callbacks for a call; of those that are not kept any more it is told how many they were. */
export function arrivalSteps(exchange: Exchange, latest: number): Step[] {
  const arrivals = exchange.arrivals.slice(-latest);
  let number = exchange.subscription?.events ?? 0;
  const steps = arrivals
    .toReversed()
    .map(arrival => arrivalStep(exchange, arrival, eventOf(arrival) ? number-- : number));
  return [...forgottenSteps(exchange), ...steps.reverse()];
}

/** One callback. @param number which event of the subscription it is, from 1, where it is one */
export function arrivalStep(exchange: Exchange, arrival: Arrival, number: number): Step {
  const { leg, at, verdict, message, progress } = arrival;
  const answered = recordedAnswer(arrival);
  const tail: Line = answered === null ? [] : [say('; '), ...quote(answered)];
  const tell = (state: Step['state'], ...line: Line) => step(`arrival:${leg}`, at, state, ...line, ...tail);
  const since = sinceSent(exchange, at);
  const what = message?.type ?? 'callback';
  switch (verdict.kind) {
    case 'settles':
      return tell('done', say('result'), ...since, ...consequences(exchange));
    case 'holds':
      return {
        ...tell('note', ...questionLine(message)),
        ...(message?.type === 'user_choice' && { lines: questionLines(message) }),
      };
    case 'noted':
      return tell('note', ...(progress ? progressLine(progress) : newsLine(message, number)), ...since);
    case 'ignored':
      return tell('note', say(`${what} ignored: `), ...clipped(verdict.reason, 'plain', MOST));
    case 'duplicate': {
      const again = verdict.identical ? 'delivered again' : 'with other content';
      return tell('note', say(`${what} ${again}; the first counts`), ...since);
    }
    case 'late':
      return tell('note', say(lateText(message, exchange.settled, sinceSentMs(exchange, at))));
    default: {
      const refusal =
        answered === null
          ? `${what} ${verdict.kind} with ${verdict.status}: `
          : `${what} ${refusalWords(arrival, verdict)}: `;
      return tell('failed', say(refusal), ...clipped(verdict.reason, 'plain', MOST));
    }
  }
}

/** Nothing where nothing was sent: somebody else made the call. */
function sinceSent(exchange: Exchange, at: number): Line {
  const ms = sinceSentMs(exchange, at);
  return ms === null ? [] : [after(ms)];
}

function sinceSentMs({ attempts: [first] }: Exchange, at: number): number | null {
  return first ? at - first.sentAt : null;
}

/** What a result says of what came before it, and of what comes after. */
function consequences(exchange: Exchange): Line {
  const asked = exchange.arrivals.findLast(({ verdict }) => verdict.kind === 'holds');
  const isGranted = asked?.message?.type === 'oauth' && outcomeOf(exchange)?.type === 'success';
  return [
    ...(isGranted ? [say('; consent was given')] : []),
    ...(exchange.subscription ? [say('; it opened a subscription')] : []),
  ];
}

function newsLine(message: Arrival['message'], number: number): Line {
  if (message?.type === 'subscription_event')
    return [say(`${eventWords(message, number)}: `), ...clipped(message.text, 'plain', MOST)];
  if (message?.type !== 'view_update') return [say(message?.type ?? 'callback')];
  const isCleared = Object.keys(message.content).length === 0;
  return [say('view '), ...quote(message.view_type, 'title'), say(isCleared ? ' cleared' : ' updated')];
}

function progressLine({ progress, total, message }: NonNullable<Arrival['progress']>): Line {
  const share = total !== undefined && total > 0 ? ` of ${total}` : '';
  const words = message === undefined ? [] : [say(': '), ...clipped(message, 'plain', MOST)];
  return [say(`progress ${progress}${share}`), ...words];
}

function forgottenSteps({ key, arrivals, forgotten }: Exchange): Step[] {
  const at = arrivals.find(({ verdict }) => !LASTING.has(verdict.kind))?.at;
  if (forgotten === 0 || at === undefined) return [];
  return [step(`forgotten:${key}`, at, 'note', say(`${forgotten} earlier callbacks were dropped`))];
}
