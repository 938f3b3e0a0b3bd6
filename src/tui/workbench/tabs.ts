import type { Highlighter } from '../../display/syntax.js';
import type { Exchange } from '../../events/exchange.js';
import { type CallLog, History } from '../../events/history.js';
import { type News, newsIn } from '../../render/callbacks.js';
import { eventCount } from '../../render/calls.js';
import { type Line, say } from '../../render/line.js';
import { panesOf } from '../../render/panes.js';
import { newStepsOf, runningSteps, type Step, stepLines } from '../../render/steps.js';
import { concerning, type ToldEvent } from '../../render/wire.js';
import { Memo, RecentMap } from '../../util/collections.js';
import type { Redactor } from '../../util/redact.js';
import {
  NO_SHEET,
  onePart,
  type Part,
  panePart,
  problemsTab,
  type Sheet,
  type SheetLook,
  type SheetOf,
  type Story,
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
import { type Compared, comparedSheet } from './compare.js';
import type { Volume } from './model.js';

/** The tabs of a call, in order. */
export const TABS = [
  { name: 'result', title: 'Human / LLM' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'wire', title: 'Wire' },
  { name: 'views', title: 'Views' },
  { name: 'problems', title: 'Problems' },
  { name: 'compare', title: 'Compare' },
] as const;

export type Tab = (typeof TABS)[number]['name'];

/** A call in its source. */
interface Subject extends Pick<Volume, 'book' | 'redactor'> {
  readonly key: string;
}

/** The events of one call, folded as they come: the cost does not depend on what came before. */
class CallStory implements Story {
  readonly forgotten = 0;
  readonly #history = new History();
  readonly #told: ToldEvent[] = [];
  readonly #news: News[] = [];

  constructor(
    private readonly book: CallLog,
    private readonly key: string,
    private readonly redactor: Redactor,
  ) {}

  get told(): readonly ToldEvent[] {
    this.#update();
    return this.#told;
  }

  /** The events of its subscription so far; it only grows. */
  get news(): readonly News[] {
    this.#update();
    return this.#news;
  }

  get exchange(): Exchange | undefined {
    return this.book.history.exchanges.get(this.key);
  }

  get running() {
    return this.#clean(runningSteps(this.#history));
  }

  /** Steps quote what the tool sent, which may hold our credentials (threats, row 25). */
  #clean(steps: readonly Step[]): readonly Step[] {
    const clean = (line: Line) => line.map(span => ({ ...span, text: this.redactor.text(span.text) }));
    return steps.map(({ line, lines, ...step }) => ({
      ...step,
      line: clean(line),
      ...(lines && { lines: lines.map(clean) }),
    }));
  }

  #update(): void {
    for (const event of this.book.of(this.key).slice(this.#told.length)) {
      this.#history.apply(event);
      this.#told.push({ event, steps: this.#clean(newStepsOf(this.#history, event)) });
      const news = newsIn(this.#history, event);
      if (news) this.#news.push(news);
    }
  }
}

interface SheetsOptions {
  /** The types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  /** The call that others are compared with. */
  readonly marked: () => Compared | null;
  /** Whether a call of this session was sent without validation. */
  readonly isUnvalidated: (key: string) => boolean;
  /** Called when a sheet has changed without an event. */
  readonly onChange: () => void;
}

/** The part with the events of the call's subscription below it, where there is one. */
type WithEvents = (part: Part, exchange: Exchange, news: readonly News[]) => Part;

/** Adds only new events. */
function withEvents(lay: (news: News) => Document): WithEvents {
  const events = new Pile(lay);
  const parts = new Memo<Part>();
  return (part, exchange, news) => {
    const { subscription } = exchange;
    if (!subscription) return part;
    for (const each of news.slice(events.count)) events.add(each);
    return parts.of([part, subscription], () => joinedPart(part, exchange, events.document));
  };
}

/** The document is laid out when it is first read. */
function joinedPart(part: Part, exchange: Exchange, events: Document): Part {
  let made: Document | null = null;
  return {
    title: [...part.title, ...eventCount(exchange)],
    pane: part.pane,
    isStream: true,
    get document() {
      made ??=
        events.length === 0 ? part.document : joinedDocument([part.document, linesDocument([[]]), events]);
      return made;
    },
  };
}

/** What the human sees beside what the LLM gets (RT-DISPLAY, RT-TEXT, RT-SUB); of a pending call, the steps so far. */
function resultTab(story: CallStory, { supports, highlighter }: SheetsOptions): SheetOf {
  const sheets = new Memo<Sheet>();
  const drawings = new Memo<readonly { draw: (look: Look) => Part; below: WithEvents }[]>();
  /** Made once: the text in a pane may be 50 MiB. */
  const drawingsOf = (exchange: Exchange) => {
    const panes = panesOf(exchange, supports);
    if (!panes) return [];
    return [
      { draw: panePart(panes.human), below: withEvents(({ told }) => linesDocument([told])) },
      {
        draw: panePart(panes.llm),
        below: withEvents(({ heading, text }) =>
          joinedDocument([linesDocument([heading]), textDocument(text)]),
        ),
      },
    ];
  };
  return look => {
    const { exchange, told, running, news } = story;
    if (!exchange?.settled)
      return sheets.of([told.length], () =>
        onePart(PENDING, [...told.flatMap(({ steps }) => steps), ...running].flatMap(stepLines)),
      );
    const parts = drawings
      .of([exchange.settled], () => drawingsOf(exchange))
      .map(({ draw, below }) => below(draw({ ...look, highlighter: highlighter() }), exchange, news));
    return sheets.of(parts, () => ({ parts }));
  };
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];

/** The marked call beside this one. */
function compareTab(call: () => Compared | null, { marked }: SheetsOptions): SheetOf {
  const sheets = new Memo<Sheet>();
  const help = onePart(
    [say('COMPARE', 'title')],
    [[say('= marks this call; select another one and press = to compare them', 'dim')]],
  );
  return look => {
    const [one, other] = [marked(), call()];
    if (!one || !other || one.exchange.key === other.exchange.key) return help;
    const from = [one.exchange, other.exchange, look.isSplit, look.isUnfolded];
    return sheets.of(from, () => comparedSheet(one, other, look));
  };
}

/** Calls whose sheets are kept, at least: users go back and forth between a few. */
const KEPT = 4;

type Sheets = Readonly<Record<Tab, SheetOf>>;

/** The sheets of calls. A sheet is made when it is looked at, and kept while nothing of its call changes. */
export class CallSheets {
  readonly #kept = new WeakMap<CallLog, RecentMap<string, Sheets>>();

  constructor(private readonly options: SheetsOptions) {}

  sheetOf(tab: Tab, subject: Subject, look: SheetLook): Sheet {
    const { book, key } = subject;
    if (!book.history.exchanges.has(key)) return NO_SHEET;
    const kept = this.#kept.get(book) ?? new RecentMap<string, Sheets>(KEPT);
    const sheets = kept.get(key) ?? this.#sheetsOf(subject);
    kept.set(key, sheets);
    this.#kept.set(book, kept);
    return sheets[tab](look);
  }

  #sheetsOf({ book, key, redactor }: Subject): Sheets {
    const story = new CallStory(book, key, redactor);
    const wire = book.whole === book ? story : new CallStory(book.whole, key, redactor); // of a recording, both of its sides
    const views = viewsSheet(this.options.highlighter, 'the thread of this call has no views');
    const thread = () => book.history.threads.get(story.exchange?.invocation.group_id ?? '');
    return {
      result: resultTab(story, this.options),
      timeline: timelineTab(story, redactor),
      wire: wireTab(wire, redactor),
      views: look => views(thread()?.views.values() ?? [], look),
      compare: compareTab(
        () => (story.exchange ? { exchange: story.exchange, redactor } : null),
        this.options,
      ),
      problems: problemsTab({
        age: () => book.of(key).length + book.of(null).length,
        judge: () => this.#judge({ book, key, redactor }),
        redactor,
        onChange: this.options.onChange,
      }),
    };
  }

  async #judge({ book, key, redactor }: Subject): Promise<readonly Line[]> {
    const exchange = book.history.exchanges.get(key);
    if (!exchange) return [];
    const { judgedLines } = await import('../../render/check-report.js');
    const isUnvalidated = !book.isSaved && this.options.isUnvalidated(key);
    return judgedLines(concerning(book.whole, exchange), exchange, redactor, book, isUnvalidated);
  }
}
