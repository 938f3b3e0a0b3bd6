import { Book } from './book.js';
import type { Event } from './events.js';
import { toldOnce } from './hop.js';
import type { Transcript } from './transcript-reader.js';

/** What a transcript tells, to look back at; of a recorder's each message once, as its tool had it. */
export function savedBook({ header, events }: Transcript): Book {
  const whole = filled(new Book(header?.observer, true), events);
  const once = toldOnce(events);
  return once === events ? whole : filled(new Book(header?.observer, true, whole), once);
}

function filled(book: Book, events: readonly Event[]): Book {
  for (const event of events) book.apply(event);
  return book;
}
