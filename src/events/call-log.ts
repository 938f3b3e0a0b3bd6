import type { Event } from './events.js';
import { isUnderWay } from './exchange.js';
import { History, Owners } from './history.js';
import type { TranscriptHeader } from './log.js';
import { toldOnce } from './round-trips.js';
import type { Transcript } from './transcript-reader.js';

/** All events of a source in memory, with an index by call and the history folded from them. */
export class CallLog {
  readonly history: History;
  /** Oldest first. */
  readonly events: Event[] = [];
  /** Keys of calls, oldest first. */
  readonly keys: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #underWay = new Set<string>();
  readonly #byCall = new Map<string | null, Event[]>();
  readonly #owners: Owners;

  /**
   * @param observer who saw the events, as in the header of a transcript
   * @param isSaved whether the events come from a file (RT-OAUTH forbids some data only in files)
   * @param both of a recording reduced to one side, the log of both sides
   * @param redact for refusals, which our texts quote
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

  readonly apply = (event: Event): void => {
    const known = this.history.exchanges.size;
    this.history.apply(event);
    this.events.push(event);
    if (this.history.exchanges.size > known)
      for (const key of event.calls ?? [])
        if (this.history.exchanges.has(key) && !this.#places.has(key))
          this.#places.set(key, this.keys.push(key) - 1);
    for (const key of this.#owners.of(event)) this.#addTo(key, event);
  };

  /** Of a recording, the log with each message on both sides. */
  get whole(): CallLog {
    return this.both ?? this;
  }

  /** The events of a call; of null, those that belong to no call. */
  of(key: string | null): readonly Event[] {
    return this.#byCall.get(key) ?? [];
  }

  /** The index of a call in {@link keys}, or -1. */
  placeOf(key: string): number {
    return this.#places.get(key) ?? -1;
  }

  /** Keys of the calls that are not finished, oldest first. */
  get underWay(): ReadonlySet<string> {
    return this.#underWay;
  }

  #addTo(key: string | null, event: Event): void {
    const events = this.#byCall.get(key) ?? [];
    this.#byCall.set(key, events);
    events.push(event);
    const exchange = key === null ? undefined : this.history.exchanges.get(key);
    if (!exchange) return;
    if (isUnderWay(exchange)) this.#underWay.add(exchange.key);
    else this.#underWay.delete(exchange.key);
  }
}

/** The log of a transcript; of a recording each message once, as the tool had it. */
export function savedCallLog({ header, events }: Transcript): CallLog {
  const whole = filled(new CallLog(header?.observer, true), events);
  const once = toldOnce(events);
  return once === events ? whole : filled(new CallLog(header?.observer, true, whole), once);
}

function filled(log: CallLog, events: readonly Event[]): CallLog {
  for (const event of events) log.apply(event);
  return log;
}

/** Numbers the events of several recordings consecutively, and makes their legs unique, so that they can form one list. */
export function renumbered(recordings: readonly (readonly Event[])[]): readonly (readonly Event[])[] {
  let next = 0;
  return recordings.map((events, index) => {
    const first = next - (events[0]?.seq ?? 0);
    const moved = events.map(event => movedTo(event, event.seq + first, index));
    next = (moved.at(-1)?.seq ?? next - 1) + 1;
    return moved;
  });
}

/** The first recording keeps its legs. */
function movedTo(event: Event, seq: number, index: number): Event {
  if (index === 0) return { ...event, seq };
  const named = (leg: string) => `${index + 1}/${leg}`;
  if (event.kind === 'decided' && event.question !== undefined)
    return { ...event, question: named(event.question), seq };
  return 'leg' in event && event.leg !== undefined
    ? { ...event, leg: named(event.leg), seq }
    : { ...event, seq };
}
