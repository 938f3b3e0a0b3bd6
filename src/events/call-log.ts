import { type Event, toldOnce } from './events.js';
import { isUnderWay } from './exchange.js';
import { History, Owners } from './history.js';
import type { TranscriptHeader } from './log.js';
import type { Transcript } from './transcript-reader.js';

/** All events of a source in memory, with an index by call and the history folded from them. */
export class CallLog {
  /**
   * @param observer who saw the events: a transcript's header says it
   * @param isSaved whether the events come from a file (RT-OAUTH forbids some data only in files)
   * @param both of a recording reduced to one side, the log of both sides
   * @param redact takes secrets out of a refusal, which our own words quote
   */
  constructor(
    readonly observer: TranscriptHeader['observer'] = 'runtime',
    readonly isSaved = false,
    private readonly both?: CallLog,
    redact?: (text: string) => string,
  ) {
    this.history = new History(true, redact);
    this.#owners = new Owners(this.history);
  }

  readonly history: History;
  /** In the order in which they happened. */
  readonly events: Event[] = [];
  /** Keys of its calls, oldest first. */
  readonly keys: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #underWay = new Set<string>();
  readonly #owners: Owners;
  readonly #byCall = new Map<string | null, Event[]>();

  readonly apply = (event: Event): void => {
    const known = this.history.exchanges.size;
    this.history.apply(event);
    this.events.push(event);
    if (this.history.exchanges.size > known) this.#begin(event);
    for (const key of this.#owners.of(event)) this.#note(key, event);
  };

  /** All that was seen: of a recorder each message on both its sides. What follows from that is in no such book. */
  get whole(): CallLog {
    return this.both ?? this;
  }

  /** The events of a call; of null, those that belong to none. */
  of(key: string | null): readonly Event[] {
    return this.#byCall.get(key) ?? [];
  }

  /** The index of a call in {@link keys}, or -1. */
  placeOf(key: string): number {
    return this.#places.get(key) ?? -1;
  }

  /** Keys of the calls of which something may still come, oldest first; kept, since frames ask for it and calls are many. */
  get underWay(): ReadonlySet<string> {
    return this.#underWay;
  }

  #begin({ calls = [] }: Event): void {
    for (const key of calls)
      if (this.history.exchanges.has(key) && !this.#places.has(key))
        this.#places.set(key, this.keys.push(key) - 1);
  }

  #note(key: string | null, event: Event): void {
    this.#eventsOf(key).push(event);
    const exchange = key === null ? undefined : this.history.exchanges.get(key);
    if (!exchange) return;
    if (isUnderWay(exchange)) this.#underWay.add(exchange.key);
    else this.#underWay.delete(exchange.key);
  }

  #eventsOf(key: string | null): Event[] {
    const events = this.#byCall.get(key) ?? [];
    this.#byCall.set(key, events);
    return events;
  }
}

/** What a transcript tells, to look back at; of a recorder's each message once, as its tool had it. */
export function savedCallLog({ header, events }: Transcript): CallLog {
  const whole = filled(new CallLog(header?.observer, true), events);
  const once = toldOnce(events);
  return once === events ? whole : filled(new CallLog(header?.observer, true, whole), once);
}

function filled(book: CallLog, events: readonly Event[]): CallLog {
  for (const event of events) book.apply(event);
  return book;
}

/** Recordings whose events can stand in one list: numbered on from one to the next, and no leg of one is a leg of another. */
export function renumbered(recordings: readonly (readonly Event[])[]): readonly (readonly Event[])[] {
  let next = 0;
  return recordings.map((events, index) => {
    const first = next - (events[0]?.seq ?? 0);
    const moved = events.map(event => movedTo(event, event.seq + first, index));
    next = (moved.at(-1)?.seq ?? next - 1) + 1;
    return moved;
  });
}

/** What comes first keeps its names. */
function movedTo(event: Event, seq: number, index: number): Event {
  if (index === 0) return { ...event, seq };
  const named = (leg: string) => `${index + 1}/${leg}`;
  if (event.kind === 'decided' && event.question !== undefined)
    return { ...event, question: named(event.question), seq };
  return 'leg' in event && event.leg !== undefined
    ? { ...event, leg: named(event.leg), seq }
    : { ...event, seq };
}
