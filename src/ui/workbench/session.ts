import type { Key } from 'ink';
import type { Event } from '../../exchange/events.js';
import { missing } from '../calls/lists.js';
import { isReading } from '../calls/reading-command.js';
import type { Play } from '../full-screen/screen.js';
import { lineTypedIn, nameOf, type Press, pressesIn, typedIn } from '../keys/key-names.js';
import { Notices } from '../notices.js';
import type { Size } from '../terminal.js';
import type { Said } from './controls.js';
import { type House, openForm, perform, runForm } from './doings/index.js';
import { Drawing } from './drawing.js';
import { pressForm, wantsRun } from './form/index.js';
import { type Command, commandOf } from './keys/bindings.js';
import { placesOf } from './keys/places.js';
import { lookingAt } from './looking.js';
import type { SessionOptions } from './options.js';
import { pressOverlay } from './overlays/press.js';
import { sheetRoom, stageOf } from './stage.js';
import { FIRST_STATE, type State } from './state/state.js';
import { type Stage, update } from './state/update.js';

/** Whoever was warned presses one of them once more; any other key takes the first back. */
const LEAVES: ReadonlySet<string> = new Set(['q', 'ctrl+c']);

/** What the workbench knows, and what keys do. */
export class Session implements Play {
  readonly #options: SessionOptions;
  readonly #notices = new Notices();
  readonly #drawing: Drawing;
  readonly #house: House;
  readonly #beneath = {
    search: (wanted: string) => this.#search(wanted),
    command: (command: Command) => this.#command(command),
  };
  #state: State = FIRST_STATE;
  /** When the events of this session began, by the clock. */
  #start: number;
  /** The room of the page in the last frame: keys mean what was seen. */
  #body: Size = { columns: 80, rows: 20 };
  /** And how far what stood in front of it could be scrolled. */
  #most = 0;
  /** The form that was asked for is open. */
  #isStarted = false;

  /** @param onChange something else is to be seen, though nothing was pressed and nothing happened */
  constructor(options: SessionOptions, onChange: () => void) {
    this.#options = options;
    this.#start = options.clock.now();
    this.#drawing = new Drawing(options, onChange);
    this.#house = this.#houseOf(onChange);
  }

  /** The form that was asked for opens as soon as its operation is known. */
  changed(): void {
    const { start, world } = this.#options;
    if (this.#isStarted || start.operation === undefined) return;
    for (const server of world.servers) {
      if (server.state.kind !== 'ready' || (start.server !== undefined && server.id !== start.server))
        continue;
      const tool = server.state.toolset.tools.find(({ name }) => name === start.operation);
      if (!tool) continue;
      this.#isStarted = true;
      openForm(this.#house, server, tool, start.arguments?.(tool.inputSchema));
      return;
    }
  }

  event(event: Event): void {
    this.#start = this.#options.clock.now() - event.at;
  }

  press(input: string, key: Key): void {
    const press = { input, key };
    for (const each of this.#pressesIn(press)) this.#press(each);
  }

  /** What arrives at once, by what it is typed into. */
  #pressesIn(press: Press): readonly Press[] {
    const { overlay, page } = this.#state;
    if (overlay?.kind === 'prompt') return lineTypedIn(press);
    return overlay === null && page === 'form' ? typedIn(press) : pressesIn(press);
  }

  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean } {
    const now = this.#now;
    const frame = this.#drawing.frame(this.#state, this.#notices.lines(now), size, now);
    this.#body = frame.body;
    this.#most = frame.most;
    return { rows: frame.rows, isRunning: frame.isRunning || this.#notices.isPassing(now) };
  }

  get #now(): number {
    return this.#options.clock.now() - this.#start;
  }

  get #looking() {
    return lookingAt(this.#state, this.#options.world);
  }

  get #readable() {
    return this.#drawing.readable(this.#looking);
  }

  get #room(): Size {
    return sheetRoom(this.#state, this.#looking, this.#body);
  }

  #press(press: Press): void {
    const { overlay, page, isLeaving } = this.#state;
    if (isLeaving && !LEAVES.has(nameOf(press))) this.#change({ isLeaving: false });
    if (nameOf(press) === 'ctrl+c') this.#quit();
    else if (overlay) pressOverlay(overlay, press, this.#house, this.#beneath);
    else if (page === 'form') this.#pressForm(press);
    else this.#command(commandOf(nameOf(press), placesOf(this.#state)));
  }

  #pressForm(press: Press): void {
    const { filling } = this.#state;
    const name = nameOf(press);
    if (!filling || name === 'escape') this.#change({ page: 'tools' });
    else if (name === 'ctrl+t') this.#run(false);
    else if (wantsRun(filling.form, press)) this.#run();
    else this.#change({ filling: { ...filling, form: pressForm(filling.form, press) } });
  }

  /** What was wrong with the arguments before is no news any more. */
  #run(validates = true): void {
    this.#notices.moved();
    runForm(this.#house, validates);
  }

  #command(command: Command | undefined): void {
    this.#notices.moved();
    if (command === 'quit') this.#quit();
    else if (command !== undefined && !this.#read(command) && !perform(command, this.#house))
      this.#move(command);
  }

  #move(command: Command): void {
    const parts = this.#drawing.sheet.partsOf(this.#state.calls, this.#readable, this.#room);
    const stage = stageOf(this.#state, this.#options.world, this.#looking, parts);
    if (command === 'nextMatch' || command === 'previousMatch') this.#tell(this.#missingIn(stage));
    this.#state = update(this.#state, command, stage);
  }

  #missingIn({ entries, calls }: Stage): string | null {
    const { page, tools, calls: browsing } = this.#state;
    return page === 'tools' ? missing(entries, tools.wanted) : missing(calls, browsing.wanted);
  }

  #read(command: Command): boolean {
    const { page, calls } = this.#state;
    if (page !== 'calls' || !isReading(command, calls.focus)) return false;
    this.#tell(this.#drawing.sheet.step(command, calls, this.#readable, this.#room));
    return true;
  }

  #search(wanted: string): void {
    const { page, calls, tools } = this.#state;
    if (page === 'calls' && calls.focus !== 'list') {
      this.#tell(this.#drawing.sheet.search(wanted, calls, this.#readable, this.#room));
      return;
    }
    this.#change(page === 'tools' ? { tools: { ...tools, wanted } } : { calls: { ...calls, wanted } });
    this.#command('nextMatch');
  }

  /** What is pending would be cancelled: that is said first, once. */
  #quit(): void {
    const { world, controls } = this.#options;
    const count = world.volumes[0]?.book.underWay.size ?? 0;
    if (count === 0 || this.#state.isLeaving) {
      controls.quit();
      return;
    }
    this.#change({ isLeaving: true });
    const calls = count === 1 ? 'A call is' : `${count} calls are`;
    this.#house.say({
      text: `${calls} under way and will be cancelled: press it again to quit.`,
      isBad: true,
    });
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
  }

  #tell(said: string | null): void {
    if (said !== null) this.#notices.key(said, this.#now);
  }

  #houseOf(onChange: () => void): House {
    const session = this;
    const { world, controls } = this.#options;
    return {
      world,
      controls,
      get state() {
        return session.#state;
      },
      get looking() {
        return session.#looking;
      },
      get most() {
        return session.#most;
      },
      change(change) {
        session.#change(change);
        onChange();
      },
      say(said: Said | null) {
        if (said) session.#notices.key(said.text, session.#now, said.isBad ? 'bad' : 'good');
        onChange();
      },
    };
  }
}
