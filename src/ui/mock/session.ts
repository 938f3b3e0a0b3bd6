import type { Key } from 'ink';
import type { Event } from '../../exchange/events.js';
import { browse, pinned } from '../calls/browsing.js';
import { missing } from '../calls/lists.js';
import { isReading } from '../calls/reading-command.js';
import type { Play } from '../full-screen/screen.js';
import { behindLine, lineTypedIn, nameOf, type Press, pressesIn } from '../keys/key-names.js';
import { Notices } from '../notices.js';
import type { Size } from '../terminal.js';
import { type Command, commandOf } from './bindings.js';
import { perform } from './doings.js';
import { Drawing, sheetRoom } from './drawing.js';
import { type Looking, listedCalls, lookingAt } from './looking.js';
import { Memory } from './memory.js';
import type { MockSessionOptions } from './options.js';
import { pressOverlay } from './press-overlay.js';
import { TABS } from './sheets/tabs.js';
import { FIRST_STATE, type State } from './state.js';

/** What keys do to what is seen, and to the mock. */
export class Session implements Play {
  readonly #options: MockSessionOptions;
  readonly #memory: Memory;
  readonly #notices = new Notices();
  readonly #drawing: Drawing;
  #state = FIRST_STATE;
  /** The room of the page in the last frame: keys mean what was seen. */
  #body: Size = { columns: 80, rows: 20 };
  /** And how far it could be scrolled as a whole. */
  #most = 0;

  /** @param onChange something else is to be seen, though nothing was pressed and nothing happened */
  constructor(options: MockSessionOptions, onChange: () => void) {
    this.#options = options;
    this.#memory = new Memory(options.clock);
    this.#drawing = new Drawing(options, this.#memory, onChange);
  }

  event(event: Event): void {
    const line = this.#memory.take(event);
    if (line) this.#notices.event(line, this.#memory.now);
  }

  notice(text: string, isBad: boolean): void {
    this.#notices.mock(text, isBad ? 'bad' : 'good', this.#memory.now);
  }

  close(): void {
    this.#drawing.close();
  }

  get summary(): string {
    return this.#memory.summary;
  }

  press(input: string, key: Key): void {
    const press = { input, key };
    const isTyping = this.#state.overlay?.kind === 'search';
    for (const each of isTyping ? lineTypedIn(press) : pressesIn(press)) this.#press(each);
    if (isTyping) this.#notices.leftOut(behindLine(press), this.#memory.now);
  }

  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean } {
    const { now, tally } = this.#memory;
    const scene = {
      state: this.#state,
      looking: this.#looking,
      tally,
      notices: this.#notices.lines(now),
      now,
    };
    const { rows, body, isRunning, most } = this.#drawing.frame(scene, size);
    this.#body = body;
    this.#most = most;
    return { rows, isRunning: isRunning || this.#notices.isPassing(now) };
  }

  get #looking(): Looking {
    return lookingAt(this.#state.calls, this.#memory.calls.list);
  }

  #press(press: Press): void {
    const { overlay, calls } = this.#state;
    if (nameOf(press) === 'ctrl+c') this.#command('quit');
    else if (overlay) {
      const beneath = { focus: calls.focus, most: this.#most };
      const { wanted, command, ...change } = pressOverlay(overlay, press, beneath);
      this.#change(change);
      if (wanted !== undefined) this.#search(wanted);
      this.#command(command);
    } else this.#command(commandOf(nameOf(press), calls.focus));
  }

  #command(command: Command | undefined): void {
    if (command === undefined) return;
    this.#notices.moved();
    const { controls } = this.#options;
    const { call, isForgotten } = this.#looking;
    const done = perform(command, { controls, state: this.#state, call, isForgotten });
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
    if (said !== null) this.#notices.key(said, this.#memory.now);
  }
}
