import type { Event } from './events.js';

type Numbered = Pick<Event, 'seq'>;

/** Notices, from the events that a transcript has in their order, which ones it does not have: the first one's number is 0. */
export class Gaps {
  #next = 0;
  #latest: number | null = null;
  #unread = 0;

  /** Whether an event begins anew: the numbers of one recording only ever grow. */
  isRestartedBy({ seq }: Numbered): boolean {
    return seq < this.#next - 1;
  }

  /** Whether it has the number of the event before it. What tells of others that are not written has none of its own. */
  isRepeatedBy({ seq, kind }: Pick<Event, 'seq' | 'kind'>): boolean {
    return seq === this.#latest && kind !== 'dropped';
  }

  /** A line could not be read: it may have been an event, which nobody needs to be told of twice. */
  unreadable(): void {
    this.#unread++;
  }

  /** What is missing right before an event; null where nothing is. */
  before(event: Event): string | null {
    const missing = this.#missingBefore(event);
    this.#next = event.seq + 1;
    this.#latest = isUnwritten(event) ? null : event.seq;
    this.#unread = 0;
    return isUnwritten(event) ? `${counted(event.count)} not written: ${event.why}` : missing;
  }

  /** What is missing right before the end line, which is numbered as if it were an event. */
  beforeEnd(end: Numbered): string | null {
    if (end.seq < this.#next) return 'the end line is not that of the events before it';
    return this.#missingBefore(end);
  }

  #missingBefore({ seq }: Numbered): string | null {
    const missing = seq - this.#next - this.#unread;
    return missing > 0 ? `${counted(missing)} missing before it` : null;
  }
}

/** What could not be written down, as whoever wrote it says. What a tool has to say no more belongs to a call. */
function isUnwritten(event: Event): event is Extract<Event, { kind: 'dropped' }> {
  return event.kind === 'dropped' && event.what === 'event' && event.calls === undefined;
}

function counted(count: number): string {
  return count === 1 ? '1 event is' : `${count} events are`;
}
