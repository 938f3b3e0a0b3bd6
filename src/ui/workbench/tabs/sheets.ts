import type { Book } from '../../../exchange/book.js';
import { RecentMap } from '../../../text/recent-map.js';
import { problemsTab } from '../../calls/sheets/problems.js';
import { NO_SHEET, type Sheet, type SheetLook, type Tabbed } from '../../calls/sheets/sheet.js';
import { timelineTab } from '../../calls/sheets/timeline.js';
import { wireTab } from '../../calls/sheets/wire.js';
import { CallStory } from './call-story.js';
import { judgedCall } from './judged-call.js';
import type { SheetsOptions } from './options.js';
import { resultTab } from './result.js';
import type { Subject, Tab } from './sheet.js';
import { viewsTab } from './views.js';

/** Calls of a book whose sheets are remembered, at least: a person goes to and fro between few. */
const REMEMBERED = 4;

type Tabs = Readonly<Record<Tab, Tabbed>>;

/** What there is to read about each call. A sheet is made when it is looked at, and kept while nothing of its call changes. */
export class Sheets {
  readonly #books = new WeakMap<Book, RecentMap<string, Tabs>>();

  constructor(private readonly options: SheetsOptions) {}

  /** Of a call that is not there, the sheet is empty. */
  sheetOf(tab: Tab, subject: Subject, look: SheetLook): Sheet {
    const { book, key } = subject;
    return book.history.exchanges.has(key) ? this.#tabsOf(subject)[tab](look) : NO_SHEET;
  }

  #tabsOf(subject: Subject): Tabs {
    const calls = this.#books.get(subject.book) ?? new RecentMap<string, Tabs>(REMEMBERED);
    this.#books.set(subject.book, calls);
    const tabs = calls.get(subject.key) ?? tabsOf(subject, this.options);
    calls.set(subject.key, tabs);
    return tabs;
  }
}

function tabsOf(subject: Subject, options: SheetsOptions): Tabs {
  const story = new CallStory(subject);
  return {
    result: resultTab(story, options),
    timeline: timelineTab(story, subject.redactor),
    wire: wireTab(wireOf(story), subject.redactor),
    views: viewsTab(story, options),
    problems: problemsTab(judgedCall(story, options.verdicts), { ...options, redactor: subject.redactor }),
  };
}

/** What went over the wire: of a recording, on both its sides. */
function wireOf(story: CallStory): Pick<CallStory, 'told'> {
  const { subject } = story;
  const { whole } = subject.book;
  return whole === subject.book ? story : new CallStory({ ...subject, book: whole });
}
