import { createTheme } from '../../dress/theme.js';
import type { Event } from '../../exchange/events.js';
import { RecentCalls } from '../../exchange/recent-calls.js';
import type { ToolCall } from '../../exchange/tool-call.js';
import { NO_CALLS, newsOf, stepTally, tallyLine } from '../../story/tool-calls/index.js';
import type { Command } from '../list/keys.js';
import { FIRST_VIEW, selectedIndex, stepView } from '../list/view.js';
import { Notices } from '../notices.js';
import { Details } from '../scrolled-rows.js';
import type { Size } from '../terminal.js';
import { type Frame, frameOf, type Pencil } from './frame.js';
import type { MockScreenOptions } from './options.js';

/** After these, what a key said is about another call. */
const MOVES: ReadonlySet<Command> = new Set(['up', 'down', 'first', 'follow']);

/** What the screen knows, and what keys do to it and to the mock. */
export class Session {
  readonly #options: Pick<MockScreenOptions, 'tool' | 'controls' | 'clock' | 'onQuit'>;
  readonly #calls = new RecentCalls();
  readonly #notices = new Notices();
  readonly #pencil: Pencil;
  #tally = NO_CALLS;
  #view = FIRST_VIEW;
  #isPaused = false;
  /** When the mock's events began, by the clock. */
  #start: number;
  #seen: Pick<Frame, 'height' | 'most'> = { height: 0, most: 0 };

  constructor(options: Pick<MockScreenOptions, 'tool' | 'controls' | 'clock' | 'onQuit' | 'level'>) {
    const theme = createTheme(options.level);
    this.#options = options;
    this.#pencil = { theme, details: new Details(theme) };
    this.#start = options.clock.now();
  }

  event(event: Event): void {
    this.#start = this.#options.clock.now() - event.at;
    this.#calls.apply(event);
    this.#tally = stepTally(this.#tally, event);
    if (event.calls?.length) return;
    const line = newsOf(event, undefined);
    if (line) this.#notices.event(line, this.#now);
  }

  notice(text: string, isBad: boolean): void {
    this.#notices.mock(text, isBad ? 'bad' : 'good', this.#now);
  }

  /** How it went, in a line. */
  get summary(): string {
    return tallyLine(this.#tally)
      .map(({ text }) => text)
      .join('');
  }

  command(command: Command): void {
    const calls = this.#calls.list.map(({ key }) => key);
    if (MOVES.has(command)) this.#notices.moved();
    this.#view = stepView(this.#view, command, { calls, ...this.#seen });
    const said = this.#act(command);
    if (said !== null) this.#notices.key(said, this.#now);
  }

  frame(size: Size): Frame {
    const now = this.#now;
    const frame = frameOf(
      {
        tool: this.#options.tool,
        calls: this.#calls.list,
        tally: this.#tally,
        view: this.#view,
        isPaused: this.#isPaused,
        notices: this.#notices.lines(now),
        now,
      },
      size,
      this.#pencil,
    );
    this.#seen = frame;
    return { ...frame, isRunning: frame.isRunning || this.#notices.isPassing(now) };
  }

  get #now(): number {
    return this.#options.clock.now() - this.#start;
  }

  get #selected(): ToolCall | undefined {
    const calls = this.#calls.list;
    return calls[
      selectedIndex(
        this.#view,
        calls.map(({ key }) => key),
      )
    ];
  }

  /** What a key does to the mock, in words; null where it does nothing to it. */
  #act(command: Command): string | null {
    const { onQuit } = this.#options;
    switch (command) {
      case 'pause':
        return this.#pause();
      case 'replay':
        return this.#replay();
      case 'fire':
        return this.#fire();
      case 'quit':
        onQuit();
        return 'Ending: what is pending is delivered first.';
      default:
        return null;
    }
  }

  #pause(): string {
    const { pause, resume } = this.#options.controls;
    this.#isPaused = !this.#isPaused;
    if (this.#isPaused) pause();
    else resume();
    return this.#isPaused ? 'Deliveries are held back until p is pressed again.' : 'Deliveries go on.';
  }

  #replay(): string {
    const call = this.#selected;
    if (!call) return 'There is no call to replay.';
    return this.#options.controls.redeliver(call.key)
      ? 'The last callback of the call is sent once more.'
      : 'The call has no callback that could be sent again.';
  }

  #fire(): string {
    const addressee = this.#selected?.addressee;
    if (!addressee) return 'There is no call to fire.';
    const fired = this.#options.controls.fire(addressee.id, addressee.group_id);
    return fired > 0 ? 'Fired.' : 'The call waits for nothing that could be fired.';
  }
}
