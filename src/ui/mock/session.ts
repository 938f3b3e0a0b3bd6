import type { Key } from 'ink';
import type { Event } from '../../exchange/events.js';
import { RecentCalls } from '../../exchange/recent-calls.js';
import { RecentEvents } from '../../exchange/recent-events.js';
import { NO_CALLS, newsOf, stepTally, tallyLine } from '../../story/tool-calls/index.js';
import { browse, pinned } from '../calls/browsing.js';
import { missing } from '../calls/lists.js';
import { isReading } from '../calls/reading-command.js';
import type { Play } from '../full-screen/screen.js';
import { lineTypedIn, nameOf, type Press, pressesIn } from '../keys/key-names.js';
import { pressedOnPage } from '../keys/scroll.js';
import { Notices } from '../notices.js';
import { stepPrompt } from '../prompt/step.js';
import type { Size } from '../terminal.js';
import { type Command, commandOf } from './bindings.js';
import { perform } from './doings.js';
import { Drawing, sheetRoom } from './drawing.js';
import { type Looking, listedCalls, lookingAt } from './looking.js';
import type { MockSessionOptions } from './options.js';
import { TABS } from './sheets/tabs.js';
import { FIRST_STATE, type Overlay, type State } from './state.js';

/** What the screen knows, and what keys do to it and to the mock. */
export class Session implements Play {
  readonly #options: MockSessionOptions;
  readonly #calls = new RecentCalls();
  readonly #events = new RecentEvents();
  readonly #notices = new Notices();
  readonly #drawing: Drawing;
  #tally = NO_CALLS;
  #state = FIRST_STATE;
  /** When the mock's events began, by the clock. */
  #start: number;
  /** The room of the page in the last frame: keys mean what was seen. */
  #body: Size = { columns: 80, rows: 20 };
  /** And how far it could be scrolled as a whole. */
  #most = 0;

  /** @param onChange something else is to be seen, though nothing was pressed and nothing happened */
  constructor(options: MockSessionOptions, onChange: () => void) {
    this.#options = options;
    this.#drawing = new Drawing(options, { calls: this.#calls, events: this.#events }, onChange);
    this.#start = options.clock.now();
  }

  event(event: Event): void {
    this.#start = this.#options.clock.now() - event.at;
    this.#calls.apply(event);
    this.#events.apply(event);
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

  press(input: string, key: Key): void {
    const press = { input, key };
    const isTyping = this.#state.overlay?.kind === 'search';
    for (const each of isTyping ? lineTypedIn(press) : pressesIn(press)) this.#press(each);
  }

  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean } {
    const now = this.#now;
    const scene = {
      state: this.#state,
      looking: this.#looking,
      tally: this.#tally,
      notices: this.#notices.lines(now),
      now,
    };
    const { rows, body, isRunning, most } = this.#drawing.frame(scene, size);
    this.#body = body;
    this.#most = most;
    return { rows, isRunning: isRunning || this.#notices.isPassing(now) };
  }

  get #now(): number {
    return this.#options.clock.now() - this.#start;
  }

  get #looking(): Looking {
    return lookingAt(this.#state.calls, this.#calls.list);
  }

  #press(press: Press): void {
    const { overlay, calls } = this.#state;
    if (nameOf(press) === 'ctrl+c') this.#command('quit');
    else if (overlay) this.#pressOverlay(overlay, press);
    else this.#command(commandOf(nameOf(press), calls.focus));
  }

  #pressOverlay(overlay: Overlay, press: Press): void {
    const name = nameOf(press);
    if (overlay.kind === 'help') this.#pressHelp(name, overlay.scroll);
    else if (name === 'escape') this.#change({ overlay: null });
    else if (name === 'enter') {
      this.#change({ overlay: null });
      this.#search(overlay.prompt.text);
    } else this.#change({ overlay: { ...overlay, prompt: stepPrompt(overlay.prompt, press) } });
  }

  /** Whoever reads of a key may press it: the help is gone then, and what it says is done. */
  #pressHelp(name: string, scroll: number): void {
    const pressed = pressedOnPage(name, scroll, this.#most);
    const meant = pressed === 'beneath' ? commandOf(name, this.#state.calls.focus) : undefined;
    if (typeof pressed === 'number') this.#change({ overlay: { kind: 'help', scroll: pressed } });
    else if (pressed === 'close' || meant) this.#change({ overlay: null });
    this.#command(meant);
  }

  #command(command: Command | undefined): void {
    if (command === undefined) return;
    this.#notices.moved();
    const { controls } = this.#options;
    const done = perform(command, { controls, state: this.#state, call: this.#looking.call });
    if (done) {
      this.#change(done.change ?? {});
      this.#tell(done.said);
    } else if (command === 'help') this.#change({ overlay: { kind: 'help', scroll: 0 } });
    else if (command === 'search')
      this.#change({ overlay: { kind: 'search', prompt: { text: '', cursor: 0 } } });
    else if (isReading(command, this.#state.calls.focus)) this.#read(command);
    else this.#browse(command);
  }

  #read(command: Parameters<Drawing['sheet']['step']>[0]): void {
    const looking = this.#looking;
    const { calls } = this.#state;
    const readable = this.#drawing.readable(looking);
    this.#tell(this.#drawing.sheet.step(command, calls, readable, this.#roomFor(looking)));
    this.#change({ calls: pinned(calls, listedCalls(looking)) });
  }

  #browse(command: Command): void {
    const looking = this.#looking;
    const { calls } = this.#state;
    const parts = this.#drawing.sheet.partsOf(calls, this.#drawing.readable(looking), this.#roomFor(looking));
    const listed = listedCalls(looking);
    if (command === 'nextMatch' || command === 'previousMatch') this.#tell(missing(listed, calls.wanted));
    this.#change({ calls: browse(calls, command, { calls: listed, parts, tabs: TABS }) });
  }

  #search(wanted: string): void {
    const looking = this.#looking;
    const { calls } = this.#state;
    const readable = this.#drawing.readable(looking);
    if (calls.focus !== 'list') {
      this.#tell(this.#drawing.sheet.search(wanted, calls, readable, this.#roomFor(looking)));
      return;
    }
    this.#change({ calls: { ...calls, wanted } });
    this.#command('nextMatch');
  }

  #roomFor(looking: Looking): Size {
    return sheetRoom(this.#state, looking, this.#body);
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
  }

  #tell(said: string | null): void {
    if (said !== null) this.#notices.key(said, this.#now);
  }
}
