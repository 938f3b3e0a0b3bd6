import type { Event } from './events.js';

/** Notices, from the events that a transcript has in their order, which ones it does not have: the first one's number is 0. */
export class Gaps {
  #last = -1;
  #unread = 0;

  /** Whether an event begins anew: the numbers of one recording only ever grow. */
  isRestartedBy({ seq }: Pick<Event, 'seq'>): boolean {
    return seq < this.#last;
  }

  /** A line could not be read: it may have been an event, which nobody needs to be told of twice. */
  unreadable(): void {
    this.#unread++;
  }

  /** What is missing right before an event; null where nothing is. */
  before(event: Event): string | null {
    const [last, unread] = [this.#last, this.#unread];
    this.#last = event.seq;
    this.#unread = 0;
    if (isUnwritten(event)) return `${counted(event.count)} not written: ${event.why}`;
    const missing = event.seq - last - 1;
    return missing > unread ? `${counted(missing - unread)} missing before it` : null;
  }
}

/** What could not be written down, as whoever wrote it says. What a tool has to say no more belongs to a call. */
function isUnwritten(event: Event): event is Extract<Event, { kind: 'dropped' }> {
  return event.kind === 'dropped' && event.what === 'event' && event.calls === undefined;
}

function counted(count: number): string {
  return count === 1 ? '1 event is' : `${count} events are`;
}
