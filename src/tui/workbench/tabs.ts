import type { Highlighter } from '../../display/syntax.js';
import type { Book } from '../../events/call-log.js';
import { type Exchange, isUnderWay } from '../../events/exchange.js';
import { History, type Thread } from '../../events/history.js';
import { eventCount } from '../../render/calls.js';
import { type Line, say } from '../../render/line.js';
import { panesOf } from '../../render/panes.js';
import type { Step } from '../../render/step-arrivals.js';
import { type News, newStepsOf, newsIn, stepLines, stepsOf } from '../../render/steps.js';
import { concerning, type ToldEvent } from '../../render/wire.js';
import type { Clock } from '../../system/drafts.js';
import { Memo } from '../../util/bounded.js';
import { RecentMap } from '../../util/json-diagnosis.js';
import {
  isLightToJudge,
  type Judged,
  NO_SHEET,
  type Part,
  type ProblemCount,
  panePart,
  problemsTab,
  type Sheet,
  type SheetLook,
  type Story,
  type Tabbed,
  timelineTab,
  viewsSheet,
  wireTab,
} from '../calls/tabs.js';
import {
  type Document,
  joinedDocument,
  type Look,
  linesDocument,
  Pile,
  textDocument,
} from '../document/documents.js';
import type { Volume } from './model.js';

/** What there is to read about a call, in the order of its tabs. */
export const TABS = ['result', 'timeline', 'wire', 'views', 'problems'] as const;
export type Tab = (typeof TABS)[number];

/** Above the sheet, in the same order. */
export const TITLES: readonly string[] = ['Human / LLM', 'Timeline', 'Wire', 'Views', 'Problems'];

/** One call, where its events are. */
interface Subject extends Pick<Volume, 'book' | 'redactor'> {
  readonly key: string;
}

/** A call of a book by itself: its own events only, each told as it comes, at a price that does not grow with what came before. */
class CallStory implements Story {
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

/** Events of a call that goes on: it is judged again and again. */
const LONGEST_PENDING = 16;

/** Is another one where a call has to be judged anew: what came to no call may be meant for one that waits. */
function stateOf(subject: Subject): string {
  const { book, key } = subject;
  return isOver(subject) ? `over ${book.of(key).length}` : `${book.of(key).length} ${book.of(null).length}`;
}

/** Whether it takes no time and no memory worth mentioning to judge it. */
function isLight(subject: Subject): boolean {
  const events = subject.book.whole.of(subject.key);
  return isOver(subject) ? isLightToJudge(events) : isLightToJudge(events, LONGEST_PENDING);
}

/** Of what is in a file nothing is to come. */
function isOver({ book, key }: Subject): boolean {
  const exchange = book.history.exchanges.get(key);
  return book.isSaved || !exchange || !isUnderWay(exchange);
}

/** How many requirements of the protocol were broken in a call, and how many of those are a MUST. */
export interface Verdict extends ProblemCount {
  readonly musts: number;
}

const SPOTLESS: Verdict = { broken: 0, musts: 0, isLeft: false };
/** Nothing else was to be judged for so long: whoever goes through a list is not kept waiting for it. */
const PAUSE_MS = 200;
/** Where there is always something else, so long after the first. */
const LONGEST_PAUSE_MS = 1_000;
const MOST_WAITING = 100;
const VERDICTS_REMEMBERED = 1_000;

interface Known {
  readonly state: string;
  readonly verdict: Verdict;
}

/** What calls came to that are seen: each is judged once for a state of it, in the background, one after another. */
export class Verdicts {
  readonly #known = new WeakMap<Book, RecentMap<string, Known>>();
  readonly #waiting = new Map<string, { readonly subject: Subject; readonly state: string }>();
  #stop: (() => void) | null = null;
  /** When the first was asked for of those that wait. */
  #since: number | null = null;

  /**
   * @param onChange a verdict is another one now, though no event came
   * @param isUnvalidated whether a call of this session was sent as it is, by its key
   */
  constructor(
    private readonly clock: Clock,
    private readonly onChange: () => void,
    private readonly isUnvalidated: (key: string) => boolean,
  ) {}

  /** What is known by now. */
  glance(subject: Subject): Verdict {
    const known = this.#knownOf(subject);
    const state = stateOf(subject);
    if (known?.state === state) return known.verdict;
    if (!isLight(subject)) return { ...(known?.verdict ?? SPOTLESS), isLeft: true };
    this.#ask(subject, state);
    return known?.verdict ?? SPOTLESS;
  }

  /** All that there is to say of a call, judged now. @throws what a rule throws */
  async judge(subject: Subject): Promise<readonly Line[]> {
    const { book, key, redactor } = subject;
    const exchange = book.history.exchanges.get(key);
    if (!exchange) return [];
    const state = stateOf(subject);
    this.#note(subject, { state, verdict: this.#knownOf(subject)?.verdict ?? SPOTLESS }); // nobody asks for it twice
    const { judgedLines } = await import('../../render/problems.js');
    const isUnvalidated = !book.isSaved && this.isUnvalidated(key);
    const events = concerning(book.whole, exchange);
    const { lines, ...verdict } = await judgedLines(events, exchange, redactor, book, isUnvalidated);
    this.#note(subject, { state, verdict: { ...verdict, isLeft: false } });
    return lines;
  }

  /** Nobody sees anything any more. */
  close(): void {
    this.#waiting.clear();
    this.#stop?.();
  }

  /** Those that were seen last come first. */
  #ask(subject: Subject, state: string): void {
    const waiting = this.#waiting.get(subject.key);
    if (waiting?.state === state && waiting.subject.book === subject.book) return;
    this.#waiting.delete(subject.key);
    this.#waiting.set(subject.key, { subject, state });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
    this.#since ??= this.clock.now();
    this.#sit(Math.max(0, Math.min(PAUSE_MS, this.#since + LONGEST_PAUSE_MS - this.clock.now())));
  }

  #sit(ms: number): void {
    this.#stop?.();
    this.#stop = this.clock.after(ms, () => void this.#judgeNext());
  }

  async #judgeNext(): Promise<void> {
    const { subject } = [...this.#waiting.values()].at(-1) ?? {};
    this.#stop = null;
    this.#since = null;
    if (!subject) return;
    this.#waiting.delete(subject.key);
    const before = this.#knownOf(subject)?.verdict ?? SPOTLESS;
    await this.judge(subject).catch(() => {}); // whoever reads of it is told
    const after = this.#knownOf(subject)?.verdict ?? SPOTLESS;
    if (after.broken !== before.broken || after.musts !== before.musts) this.onChange();
    if (this.#waiting.size > 0 && this.#stop === null) this.#sit(0);
  }

  #knownOf({ book, key }: Subject): Known | undefined {
    return this.#known.get(book)?.get(key);
  }

  #note({ book, key }: Subject, known: Known): void {
    const calls = this.#known.get(book) ?? new RecentMap<string, Known>(VERDICTS_REMEMBERED);
    this.#known.set(book, calls);
    calls.set(key, known);
  }
}

/** A call to be judged by the requirements of both sides. */
function judgedCall(story: CallStory, verdicts: Verdicts): Judged {
  return {
    get age() {
      return story.age;
    },
    judge: () => verdicts.judge(story.subject),
  };
}

/** A part with the events of its call's subscription below it, where it has one. */
type Below = (part: Part, exchange: Exchange, news: readonly News[]) => Part;

/** For the human each event as the story tells it (RT-SUB). */
function toldBelow(): Below {
  return below(({ told }) => linesDocument([told]));
}

/** The LLM gets each text whole, in a conversation of its own or in this one. */
function textsBelow(): Below {
  return below(({ heading, text }) => joinedDocument([linesDocument([heading]), textDocument(text)]));
}

/** What is there stays laid out: only what came since is added. */
function below(lay: (news: News) => Document): Below {
  const pile = new Pile(lay);
  const parts = new Memo<Part>();
  return (part, exchange, news) => {
    const { subscription } = exchange;
    if (!subscription) return part;
    for (const each of news.slice(pile.count)) pile.add(each);
    return parts.of([part, subscription], () => joinedPart(part, exchange, pile.document));
  };
}

const BLANK = linesDocument([[]]);

/** Nothing is laid out before it is read. */
function joinedPart(part: Part, exchange: Exchange, events: Document): Part {
  let made: Document | null = null;
  return {
    title: [...part.title, ...eventCount(exchange)],
    pane: part.pane,
    isStream: true,
    get document() {
      made ??= events.length === 0 ? part.document : joinedDocument([part.document, BLANK, events]);
      return made;
    },
  };
}

interface SheetsOptions {
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  readonly verdicts: Verdicts;
  /** A sheet is another one now, though no event came. */
  readonly onChange: () => void;
}

interface Drawing {
  readonly draw: (look: Look) => Part;
  readonly below: Below;
}

/** What the human sees beside what the LLM gets (RT-DISPLAY, RT-TEXT, RT-SUB); of a pending call, the steps so far. */
function resultTab(story: CallStory, { supports, highlighter }: SheetsOptions): Tabbed {
  const pending = new Memo<Sheet>();
  const settled = new Memo<Sheet>();
  const panes = new Memo<readonly Drawing[]>();
  return look => {
    const { exchange, told } = story;
    if (!exchange?.settled) return pending.of([told.length], () => ({ parts: [pendingPart(story)] }));
    const drawings = panes.of([exchange.settled], () => drawingsOf(exchange, supports));
    const parts = drawings.map(({ draw, below }) =>
      below(draw({ ...look, highlighter: highlighter() }), exchange, story.news),
    );
    return settled.of(parts, () => ({ parts }));
  };
}

/** The panes are made once: the text in them may be 50 MiB. */
function drawingsOf(exchange: Exchange, supports: ReadonlySet<string>): readonly Drawing[] {
  const panes = panesOf(exchange, supports);
  if (!panes) return [];
  return [
    { draw: panePart(panes.human), below: toldBelow() },
    { draw: panePart(panes.llm), below: textsBelow() },
  ];
}

function pendingPart({ told, running }: CallStory): Part {
  const steps = [...told.flatMap(each => each.steps), ...running];
  return { title: PENDING, document: linesDocument(steps.flatMap(stepLines)), pane: null };
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];

/** The views of the call's thread as they are now. */
function viewsTab(story: CallStory, { highlighter }: SheetsOptions): Tabbed {
  const sheetOf = viewsSheet(highlighter, 'the thread of this call has no views');
  return look => sheetOf(story.thread?.views.values() ?? [], look);
}

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
