import type { Exchange } from '../../../exchange/exchange.js';
import { History } from '../../../exchange/history.js';
import type { Thread } from '../../../exchange/thread.js';
import type { ToldEvent } from '../../../story/calls/index.js';
import { type News, newsIn } from '../../../story/news.js';
import { newStepsOf, type Step, stepsOf } from '../../../story/steps/index.js';
import type { Story } from '../../calls/sheets/story.js';
import type { Subject } from './sheet.js';

/** A call of a book by itself: its own events only, each told as it comes, at a price that does not grow with what came before. */
export class CallStory implements Story {
  readonly forgotten = 0;
  readonly #history = new History();
  readonly #told: ToldEvent[] = [];
  readonly #news: News[] = [];

  constructor(readonly subject: Subject) {}

  /** All that has happened by now; it only grows. */
  get told(): readonly ToldEvent[] {
    this.#tell();
    return this.#told;
  }

  /** What came of its subscription by now; it only grows. */
  get news(): readonly News[] {
    this.#tell();
    return this.#news;
  }

  /** How many events there are that may concern it: it is told anew when there are more. */
  get age(): number {
    const { book, key } = this.subject;
    return book.of(key).length + book.of(null).length;
  }

  get exchange(): Exchange | undefined {
    const { book, key } = this.subject;
    return book.history.exchanges.get(key);
  }

  get thread(): Thread | undefined {
    const { history } = this.subject.book;
    return history.threads.get(this.exchange?.invocation.group_id ?? '');
  }

  /** What it waits for now. */
  get running(): readonly Step[] {
    return stepsOf(this.#history, { latest: 1 }).filter(({ state }) => state === 'running');
  }

  #tell(): void {
    const { book, key } = this.subject;
    const events = book.of(key);
    for (let event = events[this.#told.length]; event; event = events[this.#told.length]) {
      this.#history.apply(event);
      this.#told.push({ event, steps: newStepsOf(this.#history, event) });
      const news = newsIn(this.#history, event);
      if (news) this.#news.push(news);
    }
  }
}
