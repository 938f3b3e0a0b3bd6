import { type Exchange, isSubscribed, openPages } from '../../events/exchange.js';
import type { History, View } from '../../events/history.js';
import type { OAuth, UserChoice } from '../../protocol/callbacks.js';
import { type Layout, type Line, line, pluralize, quote, say } from '../../render/line.js';
import { type Pane, type Panes, paneLines, viewPane } from '../../render/panes.js';
import type { Highlighter } from '../../render/syntax.js';
import { cutLine, fitRows, widthOf } from '../../render/terminal/fit.js';
import { styleLine, type Theme } from '../../render/terminal/theme.js';
import { paneLayout, wrapLine } from '../../render/terminal/wrap.js';
import type { Clock } from '../../system/clock.js';
import { openUrl } from '../../system/open-url.js';
import { memoizeByObject } from '../../util/collections.js';
import { formatDuration } from '../../util/text.js';
import { type Hint, hintsLine } from '../keys.js';
import { Picker } from '../picker.js';
import type { Size } from '../terminal.js';

/** Keys that arrive within this time after a question was drawn are dropped: they were typed before the user saw it. */
const SETTLE_MS = 50;

/** Until this time has passed, the view does not report that it is waiting. */
const WAITING_DELAY_MS = 1_000;

interface Asked {
  readonly question: UserChoice;
  picker: Picker;
  readonly answer: (selected: number | null) => void;
}

export type Subject = UserChoice | OAuth | null;

interface Visit {
  readonly page: OAuth;
  readonly said: Line;
  /** What the key does next; null while the page is being opened. */
  readonly again: string | null;
}

interface LiveModelOptions {
  readonly history: History;
  readonly clock: Clock;
  /** The time limit for the result; 0: no limit. */
  readonly timeoutMs?: number;
  /** The action of Ctrl-C, which is an ordinary key in raw mode. */
  readonly interrupt: () => void;
  readonly onChange: () => void;
}

/** Without a result from the tool, there is nothing for the human that the steps do not say. */
type ShownPanes = Pick<Panes, 'llm'> & { readonly human: Pane | null };

/** The state of a live view, and what keys do to it. */
export class LiveModel {
  /** Null until the call is settled. */
  panes: ShownPanes | null = null;
  highlighter: Highlighter | null = null;
  readonly #options: LiveModelOptions;
  readonly #start: number;
  readonly #viewPane = memoizeByObject((view: View): Pane => viewPane(view));
  #asked: readonly Asked[] = [];
  #visit: Visit | null = null;
  #drawn: { readonly subject: Subject; readonly at: number } = { subject: null, at: 0 };
  #isOver = false;

  constructor(options: LiveModelOptions) {
    this.#options = options;
    this.#start = options.clock.now();
  }

  get now(): number {
    return this.#options.clock.now() - this.#start;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get views(): readonly Pane[] {
    const threads = [...this.#options.history.threads.values()];
    return threads.flatMap(({ views }) => [...views.values()].map(this.#viewPane));
  }

  /** The first question, or the page that must be visited. With one, keys have an effect now or will in a moment. */
  get subject(): Subject {
    if (this.#isOver) return null;
    return this.#asked[0]?.question ?? this.#page ?? null;
  }

  /** The question or page that the user can answer now. */
  get asks(): Subject {
    const { subject, at } = this.#drawn;
    return subject === this.subject && this.now - at >= SETTLE_MS ? subject : null;
  }

  /** A frame with the subject is drawn, and keys typed before it have been read. */
  drawn(subject: Subject): void {
    if (subject === this.#drawn.subject) return;
    this.#drawn = { subject, at: this.now };
    if (subject) this.#options.clock.after(SETTLE_MS, this.#options.onChange);
  }

  /** What the next frame shows below the steps. */
  blocks({ columns }: Size): Blocks {
    return {
      status: this.#status(columns),
      views: this.views,
      panes: this.panes,
      highlighter: this.highlighter,
      picker: this.asks?.type === 'user_choice' ? (this.#asked[0]?.picker ?? null) : null,
    };
  }

  /**
   * Asks one question at a time. Resolves to the selected index, to the default if the question was dismissed, or to null if the signal
   * aborts it.
   */
  ask(question: UserChoice, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise(resolve => {
      const abort = () => asked.answer(null);
      const asked: Asked = {
        question,
        picker: new Picker(question),
        answer: selected => {
          signal.removeEventListener('abort', abort);
          this.#asked = this.#asked.filter(each => each !== asked);
          resolve(selected);
          this.#options.onChange();
        },
      };
      signal.addEventListener('abort', abort);
      this.#asked = [...this.#asked, asked];
      this.#options.onChange();
    });
  }

  press(key: string): void {
    const { asks } = this;
    const [asked] = this.#asked;
    if (key === 'ctrl+c') this.#options.interrupt();
    else if (asks?.type === 'oauth' && key === 'o') void this.#open(asks);
    else if (asks?.type === 'user_choice' && asked) pressPicker(asked, key);
    this.#options.onChange();
  }

  /** Stops asking: the next frame is the last one. */
  end(): void {
    this.#isOver = true;
    for (const { answer } of this.#asked) answer(null);
  }

  get #page(): OAuth | undefined {
    return [...this.#options.history.exchanges.values()].flatMap(openPages)[0];
  }

  #status(columns: number): readonly Line[] {
    const exchange = this.#options.history.first;
    const page = this.#page;
    if (this.#isOver || !exchange) return [];
    if (page && this.asks === page)
      return visitLines(this.#visit?.page === page ? this.#visit : null, columns);
    if (exchange.subscription && isSubscribed(exchange))
      return [subscriptionLine(exchange.subscription, this.now, columns)];
    return awaitedLines(exchange, this.now, this.#options.timeoutMs ?? 0);
  }

  /** Opens only one window, however often the key is pressed. */
  async #open(page: OAuth): Promise<void> {
    if (this.#visit?.page === page && this.#visit.again === null) return;
    this.#visit = { page, said: [say('opening it …', 'good')], again: null };
    const opening = await openUrl(page.auth_url);
    this.#visit = opening.ok
      ? { page, said: [say('opened in the browser', 'good')], again: 'opens it again' }
      : {
          page,
          said: quote(`it could not be opened (${opening.reason}): visit it yourself`, 'bad'),
          again: 'tries again',
        };
    this.#options.onChange();
  }
}

function pressPicker(asked: Asked, key: string): void {
  asked.picker = asked.picker.press(key);
  if (key === 'enter') asked.answer(asked.picker.selected);
  if (key === 'escape') asked.answer(asked.question.default);
}

function visitLines(visit: Visit | null, columns: number): readonly Line[] {
  const hints: readonly Hint[] = [
    ['o', visit === null ? 'opens it' : (visit.again ?? 'opens it again')],
    ['Ctrl-C', 'cancels'],
  ];
  return [...(visit ? [visit.said] : []), hintsLine([], hints, columns)];
}

/** The number of events and the elapsed time, with the key if there is room for it. */
function subscriptionLine(
  { events, openedAt }: NonNullable<Exchange['subscription']>,
  now: number,
  columns: number,
): Line {
  const open = Math.max(0, now - openedAt);
  const shown = formatDuration(open < 1_000 ? open : Math.floor(open / 1_000) * 1_000);
  const words = line`${say('… ', 'running')}subscribed: ${say(pluralize(events, 'event'))}${say(`, ${shown}`, 'dim')}`;
  const whole = [...words, say('; Ctrl-C cancels', 'dim')];
  return widthOf(whole) <= columns ? whole : words;
}

/** The missing message, the elapsed time, and the key that stops waiting. */
function awaitedLines(exchange: Exchange, now: number, timeoutMs: number): readonly Line[] {
  const { settled, questions, attempts, arrivals, dialect } = exchange;
  const waited = now - (attempts[0]?.sentAt ?? now);
  if (settled || questions.length > 0 || waited < WAITING_DELAY_MS) return [];
  const missing = dialect !== 'mcp' && arrivals.length === 0 ? 'no callback has arrived yet · ' : '';
  const limit = timeoutMs > 0 ? ` of ${timeoutMs / 1_000} s` : '';
  const time = (Math.floor(waited / 100) / 10).toFixed(1);
  return [[say(`  ${missing}${time} s${limit} · Ctrl-C stops`, 'dim')]];
}

/** Blocks of the live view, as rows that fit the terminal. A block may be empty. */
export interface Frame {
  readonly steps: readonly string[];
  readonly views: readonly string[];
  /** Null until the call is settled. */
  readonly panes: {
    readonly isSideBySide: boolean;
    readonly width: number;
    readonly gap: number;
    readonly human: readonly string[];
    readonly llm: readonly string[];
  } | null;
  readonly picker: readonly string[];
}

interface Blocks {
  /** The current activity or the user's options, directly below the steps. */
  readonly status: readonly Line[];
  readonly views: readonly Pane[];
  readonly panes: ShownPanes | null;
  readonly picker: Picker | null;
  /** Without a highlighter, code has no colours. */
  readonly highlighter?: Highlighter | null;
}

interface Top {
  readonly draw: (max: number) => readonly string[];
  readonly min: number;
}

/** The maximum share of the height for a question, which has priority over everything else. */
const PICKER_SHARE = 2 / 3;
const MIN_PANE_ROWS = 2;

/** A frame is one row lower than the terminal: a higher one would scroll, and rows that have scrolled out cannot be erased. */
export function layFrame(top: Top, blocks: Blocks, { columns, rows }: Size, theme: Theme): Frame {
  const height = Math.max(0, rows - 1);
  const { views, picker, panes, highlighter = null } = blocks;
  const { human: pane = null } = panes ?? {};
  const layout = paneLayout(columns);
  const isSideBySide = layout.isSideBySide && pane !== null;
  const width = isSideBySide ? layout.width : columns;
  const draw = {
    views: (max: number) =>
      views.flatMap(view =>
        paneRows(view, { count: Math.floor(max / views.length), width: columns, highlighter }, theme),
      ),
    human: (count: number) => (pane ? paneRows(pane, { count, width, highlighter }, theme) : []),
    llm: (count: number) => (panes ? paneRows(panes.llm, { count, width, highlighter }, theme) : []),
    picker: (max: number) => (picker ? pickerRows(picker, { columns, rows: max }, theme) : []),
  };
  const beside = isSideBySide ? draw.llm(height).length : 0;
  const [forTop = 0, forViews = 0, forHuman = 0, forLlm = 0, forPicker = 0] = shareRows(height, [
    { wanted: top.draw(height).length, min: top.min, rank: 0 },
    { wanted: draw.views(height).length, min: MIN_PANE_ROWS * views.length, rank: 4 },
    { wanted: Math.max(draw.human(height).length, beside), min: MIN_PANE_ROWS, rank: 3 },
    { wanted: isSideBySide ? 0 : draw.llm(height).length, min: MIN_PANE_ROWS, rank: 2 },
    {
      wanted: draw.picker(height).length,
      min: Math.max(Picker.minRows, Math.floor(height * PICKER_SHARE)),
      rank: 1,
    },
  ]);
  const [human, llm] = [draw.human(forHuman), draw.llm(isSideBySide ? forHuman : forLlm)];
  return {
    steps: top.draw(forTop),
    views: draw.views(forViews),
    panes: panes && { isSideBySide, width, gap: layout.gap, human, llm },
    picker: draw.picker(forPicker),
  };
}

function pickerRows(picker: Picker, size: Size, theme: Theme): readonly string[] {
  const { rows, keys } = picker.draw(size, theme);
  return [...rows, styleLine(keys, theme)].slice(0, size.rows);
}

function paneRows(
  pane: Pane,
  layout: Required<Pick<Layout, 'count' | 'width' | 'highlighter'>>,
  theme: Theme,
) {
  const { count, width } = layout;
  const { lines, total } = paneLines(pane, layout);
  const rows = lines.flatMap(each => wrapLine(each, width, theme));
  const unseen = total - lines.length;
  const more = (left: number) => styleLine(moreLine(left + unseen, width), theme);
  return unseen > 0 && rows.length < count ? [...rows, more(0)] : fitRows(rows, count, more);
}

function moreLine(count: number, width: number): Line {
  const long = `… ${count} more lines (protocol-cli render or -o plain shows all)`;
  const text = long.length <= width ? long : `… ${count} more lines (-o plain shows all)`;
  return cutLine([say(text, 'dim')], width);
}

interface Want {
  readonly wanted: number;
  readonly min: number;
  /** If not all fit, the highest rank is left out first. */
  readonly rank: number;
}

/** The number of rows of each block, with a blank row between blocks. Small blocks get all they need; the others share the rest evenly. */
function shareRows(height: number, wants: readonly Want[]): readonly number[] {
  const granted = wants.map(({ wanted, min }) => Math.min(wanted, min));
  const left = () => {
    const shown = granted.filter(rows => rows > 0);
    return height - shown.reduce((sum, rows) => sum + rows, Math.max(0, shown.length - 1));
  };
  for (const [index] of [...wants.entries()].sort(([, a], [, b]) => b.rank - a.rank))
    if (left() < 0) granted[index] = 0;
  for (let rest = left(); rest > 0; rest--) {
    const growing = [...granted.keys()].filter(at => granted[at] && granted[at] < (wants[at]?.wanted ?? 0));
    const poorest = Math.min(...growing.map(at => granted[at] ?? 0));
    const next = growing.find(at => granted[at] === poorest);
    if (next === undefined) break;
    granted[next] = poorest + 1;
  }
  return granted;
}
