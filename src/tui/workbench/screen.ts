import type { Key } from 'ink';
import type { Event } from '../../events/events.js';
import type { Clock } from '../../system/drafts.js';
import { nearest, offer as offered } from '../../util/nearest.js';
import { isReading, missing } from '../calls/list.js';
import { type FullScreen, fullScreen, type Play } from '../full-screen/full-screen.js';
import { behindLine, lineTypedIn, nameOf, type Press, pressesIn, typedIn } from '../keys.js';
import { type Notice, Notices } from '../layout.js';
import type { Size } from '../terminal.js';
import { keepForm, openForm, perform } from './actions.js';
import { sheetRoom, stageOf } from './calls-page.js';
import { isCorrected, pressForm } from './form/form.js';
import { type Command, commandFor, pressOverlay, type Stage, update } from './keys.js';
import type { Controls, Said, Server, SessionOptions, Start, WorkbenchOptions, World } from './model.js';
import { Drawing } from './pages.js';
import { fulfil, type House, type Offer, offersOf } from './send.js';
import { FIRST_STATE, type Filling, lookingAt, operationEntryId, type State } from './state.js';

/** What a session works at: its state as it is now, and what there is to say. */
class Desk implements House {
  readonly world: World;
  readonly controls: Controls;
  readonly notices = new Notices();
  state: State = FIRST_STATE;
  most = 0;
  readonly #clock: Clock;
  /** When the events of this session began, by the clock. */
  #start: number;

  constructor(
    { world, controls, clock }: Pick<SessionOptions, 'world' | 'controls' | 'clock'>,
    private readonly onChange: () => void,
  ) {
    this.world = world;
    this.controls = controls;
    this.#clock = clock;
    this.#start = clock.now();
  }

  event({ at }: Event): void {
    this.#start = this.#clock.now() - at;
  }

  /** Ms since the start. */
  get now(): number {
    return this.#clock.now() - this.#start;
  }

  get looking() {
    return lookingAt(this.state, this.world);
  }

  readonly change = (change: Partial<State>): void => {
    this.state = { ...this.state, ...change };
    this.onChange();
  };

  readonly say = (said: Said | null): void => {
    if (said) this.notices.key(said.text, this.now, said.isBad ? 'bad' : 'good');
    this.onChange();
  };

  /** Of what a key did to the eye, if there is anything to say. */
  tell(said: string | null): void {
    if (said !== null) this.notices.key(said, this.now);
  }
}

/** What a person looks at: it is moved through lists, and through what is read. */
class Eye {
  /** The room of the page in the last frame: keys mean what was seen. */
  body: Size = { columns: 80, rows: 20 };

  constructor(
    private readonly desk: Desk,
    private readonly drawing: Drawing,
  ) {}

  move(command: Command): void {
    if (!this.#read(command)) this.#go(command);
  }

  search(wanted: string): void {
    const { page, calls, tools } = this.desk.state;
    if (page === 'calls' && calls.focus !== 'list') {
      this.desk.tell(this.drawing.sheet.search(wanted, calls, this.#readable, this.#room));
      return;
    }
    this.desk.change(page === 'tools' ? { tools: { ...tools, wanted } } : { calls: { ...calls, wanted } });
    this.move('nextMatch');
  }

  #read(command: Command): boolean {
    const { page, calls } = this.desk.state;
    if (page !== 'calls' || !isReading(command, calls.focus)) return false;
    this.desk.tell(this.drawing.sheet.step(command, calls, this.#readable, this.#room));
    return true;
  }

  #go(command: Command): void {
    const { state, world, looking } = this.desk;
    const parts = this.drawing.sheet.partsOf(state.calls, this.#readable, this.#room);
    const stage = stageOf(state, world, looking, parts);
    if (command === 'nextMatch' || command === 'previousMatch') this.desk.tell(this.#missingIn(stage));
    this.desk.change(update(state, command, stage));
  }

  #missingIn({ entries, calls }: Stage): string | null {
    const { page, tools, calls: browsing } = this.desk.state;
    return page === 'tools' ? missing(entries, tools.wanted) : missing(calls, browsing.wanted);
  }

  get #readable() {
    return this.drawing.readable(this.desk.looking);
  }

  get #room(): Size {
    return sheetRoom(this.desk.state, this.desk.looking, this.body);
  }
}

/** Whoever was warned presses one of them once more; any other key takes the first back. */
const LEAVES: ReadonlySet<string> = new Set(['q', 'ctrl+c']);

/** What is pending would be cancelled: that is said first, and holds for as long as it is to be read, and for as many calls. */
class Leaving {
  #warning: { readonly count: number; readonly notice: Notice } | null = null;

  constructor(private readonly desk: Desk) {}

  quit(): void {
    const { world, controls } = this.desk;
    const count = world.volumes[0]?.book.underWay.size ?? 0;
    if (count === 0 || (this.#stands && this.#warning?.count === count)) controls.quit();
    else this.#warn(count);
  }

  /** @param name of a key */
  pressed(name: string): void {
    if (this.#stands && !LEAVES.has(name)) this.desk.notices.moved();
  }

  get #stands(): boolean {
    const { notices, now } = this.desk;
    return this.#warning !== null && notices.stands(this.#warning.notice, now);
  }

  #warn(count: number): void {
    const { notices, now } = this.desk;
    const calls = count === 1 ? 'A call is' : `${count} calls are`;
    const text = `${calls} under way and will be canceled: press it again to quit.`;
    this.#warning = { count, notice: notices.key(text, now, 'bad') };
  }
}

/** What was asked for on the command line: its form opens once its operation is known. Whoever has pressed a key by then is only told. */
class Starter {
  #isDone = false;
  #isPressed = false;

  constructor(
    private readonly start: Start,
    private readonly house: House,
  ) {}

  begin(): void {
    const { transcript: text } = this.start;
    if (text !== undefined)
      fulfil({ purpose: 'transcript', text, cursor: text.length, about: null }, this.house);
  }

  pressed(): void {
    this.#isPressed = true;
  }

  /** Servers are not as they were. */
  changed(): void {
    const { operation } = this.start;
    if (this.#isDone || operation === undefined) return;
    const offer = this.#offersOf(operation)[0];
    this.#isDone = offer !== undefined || isKnown(this.#servers);
    if (offer) this.#found(offer);
    else if (this.#isDone) this.#missed(operation);
  }

  get #servers(): readonly Server[] {
    const { server } = this.start;
    return this.house.world.servers.filter(({ id }) => server === undefined || id === server);
  }

  #offersOf(operation: string): readonly Offer[] {
    return offersOf({ servers: this.#servers }, operation);
  }

  #found(offer: Offer): void {
    const given = this.start.arguments?.(offer.tool.inputSchema);
    if (this.#isPressed) {
      keepForm(this.house, offer, { given });
      const text = `${offer.tool.name} of ${offer.server.about} is ready: its form is in Tools.`;
      this.house.say({ text, isBad: false });
    } else openForm(this.house, offer, { given });
  }

  /** What was given waits in the form of the operation that was probably meant. */
  #missed(operation: string): void {
    const meant = nearest(operation, namesOf(this.#servers));
    const offer = this.#offersOf(meant[0] ?? '')[0];
    if (offer) this.#suggest(offer);
    const what = `No operation "${operation}" is offered.`;
    this.house.say({ text: [what, offered(meant)].filter(Boolean).join(' '), isBad: true });
  }

  #suggest(offer: Offer): void {
    const { server, tool } = offer;
    const { tools } = this.house.state;
    if (!this.#isPressed)
      this.house.change({ tools: { ...tools, selected: operationEntryId(server.id, tool.name) } });
    if (this.start.arguments) keepForm(this.house, offer, { given: this.start.arguments(tool.inputSchema) });
  }
}

/** None of them is still to tell what it offers; one that failed has said so. */
function isKnown(servers: readonly Server[]): boolean {
  const kinds = servers.map(({ state }) => state.kind);
  return kinds.includes('ready') && kinds.every(kind => kind === 'ready' || kind === 'failed');
}

function namesOf(servers: readonly Server[]): readonly string[] {
  return servers.flatMap(({ state }) =>
    state.kind === 'ready' ? state.toolset.tools.map(({ name }) => name) : [],
  );
}

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
    if (isCorrected(filling.form, form)) this.#desk.notices.moved();
    this.#desk.change({ filling: { ...filling, form } });
  }

  #command(command: Command | undefined): void {
    if (command !== 'quit') this.#desk.notices.moved();
    if (command === 'quit') this.#leaving.quit();
    else if (command !== undefined && !perform(command, this.#desk)) this.#eye.move(command);
  }
}

/** The workbench, full screen. Needs a terminal on both ends. */
export function workbenchScreen(options: WorkbenchOptions): Pick<FullScreen, 'close'> {
  const { subscribe, onEvent, ...stage } = options;
  const session = new Session(options, () => screen.changed());
  const screen = fullScreen(session, stage);
  const changed = () => {
    session.changed();
    screen.changed();
  };
  const stops = [
    subscribe(changed),
    onEvent(event => {
      session.event(event);
      screen.changed();
    }),
  ];
  changed();
  return {
    async close() {
      for (const stop of stops) stop();
      session.close();
      await screen.close();
    },
  };
}
