import type { Key } from 'ink';
import type { Event } from '../../exchange/events.js';
import type { Play } from '../full-screen/screen.js';
import { behindLine, lineTypedIn, nameOf, type Press, pressesIn, typedIn } from '../keys/key-names.js';
import type { Size } from '../terminal.js';
import { Desk } from './desk.js';
import { perform } from './doings/index.js';
import { Drawing } from './drawing.js';
import { Eye } from './eye.js';
import { isMending, pressForm } from './form/index.js';
import type { Command } from './keys/bindings.js';
import { commandFor } from './keys/command-for.js';
import { Leaving } from './leaving.js';
import type { SessionOptions } from './options.js';
import { pressOverlay } from './overlays/press.js';
import { Starter } from './starter.js';
import type { Filling } from './state/state.js';

/** What keys do in the workbench, and what is seen of it. */
export class Session implements Play {
  readonly #desk: Desk;
  readonly #drawing: Drawing;
  readonly #eye: Eye;
  readonly #leaving: Leaving;
  readonly #starter: Starter;
  readonly #beneath = {
    search: (wanted: string) => this.#eye.search(wanted),
    press: (press: Press) => this.#pressPage(press),
  };

  /** @param onChange something else is to be seen, though nothing was pressed and nothing happened */
  constructor(options: SessionOptions, onChange: () => void) {
    this.#desk = new Desk(options, onChange);
    this.#drawing = new Drawing(options, onChange);
    this.#eye = new Eye(this.#desk, this.#drawing);
    this.#leaving = new Leaving(this.#desk);
    this.#starter = new Starter(options.start, this.#desk);
    this.#starter.begin();
  }

  /** Servers or volumes are not as they were. */
  changed(): void {
    this.#starter.changed();
  }

  event(event: Event): void {
    this.#desk.event(event);
  }

  press(input: string, key: Key): void {
    const press = { input, key };
    const isLine = this.#desk.state.overlay?.kind === 'prompt';
    this.#starter.pressed();
    for (const each of this.#pressesIn(press)) this.#press(each);
    if (isLine) this.#desk.notices.leftOut(behindLine(press), this.#desk.now);
  }

  /** What arrives at once, by what it is typed into. */
  #pressesIn(press: Press): readonly Press[] {
    const { overlay, page } = this.#desk.state;
    if (overlay?.kind === 'prompt') return lineTypedIn(press);
    return overlay === null && page === 'form' ? typedIn(press) : pressesIn(press);
  }

  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean } {
    const { state, notices, now } = this.#desk;
    const frame = this.#drawing.frame(state, notices.lines(now), size, now);
    this.#eye.body = frame.body;
    this.#desk.most = frame.most;
    return { rows: frame.rows, isRunning: frame.isRunning || notices.isPassing(now) };
  }

  /** Nobody looks any more. */
  close(): void {
    this.#drawing.close();
  }

  #press(press: Press): void {
    const { overlay } = this.#desk.state;
    const name = nameOf(press);
    this.#leaving.pressed(name);
    if (name === 'ctrl+c') this.#leaving.quit();
    else if (overlay) pressOverlay(overlay, press, this.#desk, this.#beneath);
    else this.#pressPage(press);
  }

  /** What is no key of a form is typed into it. */
  #pressPage(press: Press): void {
    const { state } = this.#desk;
    const { filling } = state;
    const command = commandFor(press, state);
    if (command === undefined && state.page === 'form' && filling) this.#type(filling, press);
    else this.#command(command);
  }

  #type(filling: Filling, press: Press): void {
    const form = pressForm(filling.form, press);
    if (isMending(filling.form, form)) this.#desk.notices.moved();
    this.#desk.change({ filling: { ...filling, form } });
  }

  #command(command: Command | undefined): void {
    if (command !== 'quit') this.#desk.notices.moved();
    if (command === 'quit') this.#leaving.quit();
    else if (command !== undefined && !perform(command, this.#desk)) this.#eye.move(command);
  }
}
