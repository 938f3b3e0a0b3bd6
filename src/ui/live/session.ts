import type { Highlighter } from '../../display/syntax/highlighter.js';
import { isSubscribed } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import { openPages } from '../../exchange/questions.js';
import type { View } from '../../exchange/thread.js';
import type { OAuth, UserChoice } from '../../protocol/callbacks/index.js';
import type { Line } from '../../story/line.js';
import type { Pane, Panes } from '../../story/panes.js';
import { stepsOf } from '../../story/steps/index.js';
import { viewPane } from '../../story/view-pane.js';
import type { Clock } from '../../system/clock.js';
import { openUrl } from '../../system/open-url.js';
import type { Size } from '../terminal.js';
import { Attention } from './attention.js';
import type { Scene, Surroundings } from './frame.js';
import type { Command } from './keys.js';
import { Questions } from './questions.js';
import { awaitedLine, subscriptionLine, type Visit, visitLines } from './status.js';

export interface SessionOptions {
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
