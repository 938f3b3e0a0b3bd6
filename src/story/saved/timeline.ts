import type { Event } from '../../exchange/events.js';
import type { Exchange } from '../../exchange/exchange.js';
import { History } from '../../exchange/history.js';
import { Owners } from '../../exchange/owners.js';
import { RecentCalls } from '../../exchange/recent-calls.js';
import { formatDuration } from '../../text/format-duration.js';
import { recordedAnswer } from '../late-text.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { stepLine } from '../step-line.js';
import { arrivalStep } from '../steps/arrivals.js';
import { newStepsOf, type Step, stepsOf } from '../steps/index.js';
import { labelled } from '../steps/label.js';
import { newsOf } from '../tool-calls/index.js';

/** A part of what was recorded, with a history of its own. */
export interface Chapter {
  readonly history: History;
  /** The call that it tells of; undefined where it is about none. */
  readonly exchange: Exchange | undefined;
  readonly events: readonly Event[];
  /** All of them: a history itself forgets, where there are very many. */
  readonly steps: readonly Step[];
}

/** All that was recorded, and the same in parts. */
export interface Chronicle {
  readonly whole: History;
  readonly chapters: readonly Chapter[];
}

/**
 * What belongs to no call first, then each call by itself; a single call has all there is.
 * @param isWhole whether nothing of what was recorded is lost
 */
export function chronicleOf(events: readonly Event[], isWhole = true): Chronicle {
  const all = new Telling(isWhole);
  for (const event of events) all.take(event);
  const whole = all.history;
  if (whole.exchanges.size <= 1) return { whole, chapters: [all.chapter()] };
  const parts = new Map<string | null, Telling>([[null, new Telling(isWhole)]]);
  for (const key of whole.exchanges.keys()) parts.set(key, new Telling(isWhole));
  const owners = new Owners(whole);
  for (const event of events) for (const key of owners.of(event)) parts.get(key)?.take(event);
  return { whole, chapters: [...parts.values()].map(part => part.chapter()) };
}

/** Takes events one by one, and notes what each brought to an end. */
class Telling {
  readonly history: History;
  readonly #steps: Step[] = [];
  readonly #events: Event[] = [];

  constructor(isWhole: boolean) {
    this.history = new History(isWhole);
  }

  take(event: Event): void {
    this.history.apply(event);
    this.#events.push(event);
    for (const step of newStepsOf(this.history, event)) this.#steps.push(step);
    if (event.kind === 'response' || event.kind === 'broken') this.#showAnswer(event);
  }

  /** A recorded runtime may have answered a callback otherwise than this program would: its step is there already. */
  #showAnswer({ leg, calls: [key = ''] = [] }: Extract<Event, { kind: 'response' | 'broken' }>): void {
    const exchange = this.history.exchanges.get(key);
    const arrival = exchange?.arrivals.findLast(each => each.leg === leg);
    if (!exchange || !arrival || recordedAnswer(arrival) === null) return;
    const index = this.#steps.findLastIndex(step => step.key === `arrival:${leg}`);
    if (index < 0) return;
    const told = arrivalStep(exchange, arrival, exchange.subscription?.events ?? 0);
    this.#steps.splice(index, 1, ...labelled(this.history, key, [told]));
  }

  chapter(): Chapter {
    const running = stepsOf(this.history, { latest: 1 }).filter(({ state }) => state === 'running');
    const steps = [...this.#steps, ...running].toSorted((one, other) => one.at - other.at);
    return { history: this.history, exchange: this.history.first, events: this.#events, steps };
  }
}

const MARGIN = 8;

/** What happened, step by step, each with the time since the start in the margin. */
export function timelineOf({ steps }: Chapter): Line[] {
  return steps.map(step => [margin(step.at), ...stepLine(step)]);
}

/** The same as the tool saw it. */
export function toolTimelineOf(events: readonly Event[]): Line[] {
  const calls = new RecentCalls();
  return events.flatMap(event => {
    calls.apply(event);
    const news = newsOf(event, calls.get(event.calls?.[0] ?? ''));
    return news ? [[margin(event.at), ...news]] : [];
  });
}

function margin(at: number) {
  return say(`${formatDuration(at).padStart(MARGIN)} `, 'gutter');
}
