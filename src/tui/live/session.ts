import type { Highlighter } from '../../display/syntax.js';
import { type Exchange, isSubscribed, type Subscription } from '../../events/exchange.js';
import type { History, View } from '../../events/history.js';
import { openPages } from '../../events/questions.js';
import type { OAuth, UserChoice } from '../../protocol/callbacks.js';
import { type Line, quote, say } from '../../render/line.js';
import { viewPane } from '../../render/pane-lines.js';
import type { Pane, Panes } from '../../render/panes.js';
import { stepsOf } from '../../render/steps.js';
import { widthOf } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/drafts.js';
import { openUrl } from '../../system/open-url.js';
import { formatDuration } from '../../util/format-duration.js';
import { type Hint, hintsLine } from '../keys.js';
import type { Size } from '../terminal.js';
import {
  type Command,
  openPicker,
  type Picker,
  type PickerCommand,
  type Scene,
  type Surroundings,
  stepPicker,
} from './frame.js';

/** What is in the keyboard's buffer when the terminal turns to raw mode comes within this. */
const SETTLE_MS = 50;

/**
 * What was typed before there was something to answer is no answer to it. So a question is shown, and takes keys, only after a
 * moment; until then they are dropped.
 */
class Attention {
  #to: object | null = null;
  #since = 0;

  /** `wake` is called with the time, in ms, after which {@link isPaidTo} becomes true. */
  constructor(private readonly wake: (ms: number) => void) {}

  /** There is something else to answer now, or nothing. */
  turn(to: object | null, now: number): void {
    if (to === this.#to) return;
    this.#to = to;
    this.#since = now;
    if (to !== null) this.wake(SETTLE_MS);
  }

  isPaidTo(to: object, now: number): boolean {
    return to === this.#to && now - this.#since >= SETTLE_MS;
  }
}

interface Asked {
  picker: Picker;
  readonly answer: (selected: number | null) => void;
}

/** What tools ask a person: one question after the other, each until it is answered or called off. */
export class Questions {
  #asked: readonly Asked[] = [];

  /** `onChange`: another question is the first one now, or none. */
  constructor(private readonly onChange: () => void) {}

  /** The question that is asked now. */
  get picker(): Picker | null {
    return this.#asked[0]?.picker ?? null;
  }

  /** The index that was picked, the default where the question was dismissed; null where the signal called it off. */
  ask(question: UserChoice, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise(resolve => {
      const callOff = () => asked.answer(null);
      const asked: Asked = {
        picker: openPicker(question),
        answer: selected => {
          signal.removeEventListener('abort', callOff);
          this.#asked = this.#asked.filter(each => each !== asked);
          resolve(selected);
          this.onChange();
        },
      };
      signal.addEventListener('abort', callOff);
      this.#asked = [...this.#asked, asked];
      this.onChange();
    });
  }

  press(command: PickerCommand): void {
    const asked = this.#asked[0];
    if (!asked) return;
    asked.picker = stepPicker(asked.picker, command);
    const { selected, question } = asked.picker;
    if (command === 'pick') asked.answer(selected);
    if (command === 'dismiss') asked.answer(question.default);
  }

  /** Nobody is asked any more. */
  callOff(): void {
    for (const { answer } of this.#asked) answer(null);
  }
}

/** What became of the wish to open a page. */
interface Visit {
  readonly page: OAuth;
  readonly said: string;
  readonly isBad: boolean;
  /** It is not known yet what becomes of it. */
  readonly isUnderWay: boolean;
}

/** While a page must be visited: what became of the wish to open it, and the key for that. */
export function visitLines(visit: Visit | null, columns: number): readonly Line[] {
  const [opens, cancels] = [opensHint(visit), ['Ctrl-C', 'cancels']] as const;
  const keys = hintsLine([], [opens, cancels], columns);
  return visit === null ? [keys] : [quote(visit.said, visit.isBad ? 'bad' : 'good'), keys];
}

function opensHint(visit: Visit | null): Hint {
  if (visit === null) return ['o', 'opens it'];
  return ['o', visit.isBad ? 'tries again' : 'opens it again'];
}

/**
 * While events may come: how many did, and for how long they have been awaited; the key where there is room for it.
 * @param now ms since the start
 */
export function subscriptionLine({ events, openedAt }: Subscription, now: number, columns: number): Line {
  const count = `${events} event${events === 1 ? '' : 's'}`;
  const open = formatDuration(wholeSeconds(Math.max(0, now - openedAt)));
  const line = [say('… ', 'running'), say(`subscribed: ${count}`), say(`, ${open}`, 'dim')];
  const whole = [...line, say('; Ctrl-C cancels', 'dim')];
  return widthOf(whole) <= columns ? whole : line;
}

/** Before that a result is expected at any moment. */
const PATIENCE_MS = 1_000;

/**
 * While the result does not come: what is missing, for how long it has been awaited, and the key that stops it.
 * @param now ms since the start
 * @param timeoutMs 0 where there is none
 */
export function awaitedLine(exchange: Exchange, now: number, timeoutMs: number): Line | null {
  const { settled, questions, attempts, arrivals, dialect } = exchange;
  const waited = now - (attempts[0]?.sentAt ?? now);
  if (settled || questions.length > 0 || waited < PATIENCE_MS) return null;
  const isMissing = dialect !== 'mcp' && arrivals.length === 0;
  const limit = timeoutMs > 0 ? ` of ${timeoutMs / 1_000} s` : '';
  const time = `${(Math.floor(waited / 100) / 10).toFixed(1)} s${limit} · Ctrl-C stops`;
  return [say(`  ${isMissing ? 'no callback has arrived yet · ' : ''}${time}`, 'dim')];
}

/** It may last for days: nobody needs ten frames a second of that. */
function wholeSeconds(ms: number): number {
  return ms < 1_000 ? ms : Math.floor(ms / 1_000) * 1_000;
}

interface SessionOptions {
  readonly history: History;
  readonly clock: Clock;
  /** For the result; 0 or undefined: there is no limit. */
  readonly timeoutMs?: number;
  /** Ctrl-C: in raw mode it is a key like any other. */
  readonly interrupt: () => void;
  /** Something else is to be seen now. */
  readonly onChange: () => void;
}

/** What the live view knows, and what keys do. */
export class Session {
  readonly questions: Questions;
  /** Null until the call is settled. */
  panes: Panes | null = null;
  highlighter: Highlighter | null = null;
  readonly #options: SessionOptions;
  readonly #start: number;
  readonly #attention: Attention;
  readonly #viewPanes = new WeakMap<View, Pane>();
  #visit: Visit | null = null;
  #isOver = false;

  constructor(options: SessionOptions) {
    const { clock, onChange } = options;
    this.#options = options;
    this.#start = clock.now();
    this.questions = new Questions(onChange);
    this.#attention = new Attention(ms => void clock.after(ms, onChange));
  }

  scene(size: Size): Scene {
    const { history } = this.#options;
    return { steps: stepsOf(history, { latest: size.rows }), ...this.surroundings(size), now: this.now };
  }

  /** The scene, but for what stands above. */
  surroundings({ columns }: Size): Surroundings {
    const now = this.now;
    this.#attention.turn(this.#subject, now);
    const { picker } = this.questions;
    return {
      status: this.#status(columns),
      views: this.views,
      panes: this.panes,
      highlighter: this.highlighter,
      picker: picker && this.#attention.isPaidTo(picker.question, now) ? picker : null,
    };
  }

  /** What the threads show besides results. */
  get views(): readonly Pane[] {
    const threads = [...this.#options.history.threads.values()];
    return threads.flatMap(({ views }) => [...views.values()].map(this.#viewPane));
  }

  /** Something can be pressed now, or in a moment. */
  get takesKeys(): boolean {
    return this.#subject !== null;
  }

  press(command: Command): void {
    const { interrupt, onChange } = this.#options;
    const subject = this.#subject;
    const isHeard = subject !== null && this.#attention.isPaidTo(subject, this.now);
    if (command === 'interrupt') interrupt();
    else if (isHeard && command !== 'open') this.questions.press(command);
    else if (isHeard && subject.type === 'oauth') void this.#open(subject);
    onChange();
  }

  /** Nobody is asked any more, and nothing can be pressed: the last frame is about to stay. */
  end(): void {
    this.#isOver = true;
    this.questions.callOff();
  }

  /** Ms since the start. */
  get now(): number {
    return this.#options.clock.now() - this.#start;
  }

  /** What is shown to a person, to be answered. */
  get asks(): UserChoice | OAuth | null {
    const subject = this.#subject;
    return subject && this.#attention.isPaidTo(subject, this.now) ? subject : null;
  }

  /** Nothing more happens: the frame is the last one. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What a person can answer now. */
  get #subject(): UserChoice | OAuth | null {
    if (this.#isOver) return null;
    return this.questions.picker?.question ?? this.#page;
  }

  /** The page that is to be visited. */
  get #page(): OAuth | null {
    for (const exchange of this.#options.history.exchanges.values())
      for (const page of openPages(exchange)) return page;
    return null;
  }

  #status(columns: number): readonly Line[] {
    const page = this.#page;
    const exchange = this.#options.history.first;
    if (this.#isOver || !exchange) return [];
    if (page && this.asks === page)
      return visitLines(this.#visit?.page === page ? this.#visit : null, columns);
    if (exchange.subscription && isSubscribed(exchange))
      return [subscriptionLine(exchange.subscription, this.now, columns)];
    const awaited = awaitedLine(exchange, this.now, this.#options.timeoutMs ?? 0);
    return awaited ? [awaited] : [];
  }

  /** Only once at a time: whoever presses a key again and again does not want as many windows. */
  async #open(page: OAuth): Promise<void> {
    if (this.#visit?.page === page && this.#visit.isUnderWay) return;
    this.#visit = { page, said: 'opening it …', isBad: false, isUnderWay: true };
    const opening = await openUrl(page.auth_url);
    const said = opening.ok
      ? 'opened in the browser'
      : `it could not be opened (${opening.reason}): visit it yourself`;
    this.#visit = { page, said, isBad: !opening.ok, isUnderWay: false };
    this.#options.onChange();
  }

  /** A view is a value: as long as it is the same one, so is its pane. */
  readonly #viewPane = (view: View): Pane => {
    const pane = this.#viewPanes.get(view) ?? viewPane(view);
    this.#viewPanes.set(view, pane);
    return pane;
  };
}
