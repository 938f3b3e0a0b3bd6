import type { Key } from 'ink';
import { nearest, offer as suggestion } from '../../util/text.js';
import { fullScreen } from '../full-screen/full-screen.js';
import { keepForm, type Offer, offersOf, openForm, runForm } from './actions.js';
import { WORKBENCH_KEYS } from './keys.js';
import type { Server, SessionOptions, Start, WorkbenchOptions } from './model.js';
import { openTranscript } from './prompts.js';
import { operationKey, toolsOf } from './tools.js';
import { Workbench } from './workbench.js';

/** Opens what the command line names: a form opens once its operation is known, unless the user has pressed a key by then. */
class Starter {
  #isDone = false;
  #isPressed = false;

  constructor(
    private readonly start: Start,
    private readonly workbench: Workbench,
  ) {}

  pressed(): void {
    this.#isPressed = true;
  }

  /** Called when servers have changed. */
  changed(): void {
    const { operation } = this.start;
    if (this.#isDone || operation === undefined) return;
    const [offer] = this.#offers(operation);
    this.#isDone = offer !== undefined || areLoaded(this.#servers);
    if (offer) this.#found(offer);
    else if (this.#isDone) this.#missed(operation);
  }

  get #servers(): readonly Server[] {
    const { server } = this.start;
    return this.workbench.world.servers.filter(({ id }) => server === undefined || id === server);
  }

  #offers(operation: string): readonly Offer[] {
    return offersOf(this.#servers, operation);
  }

  #found(offer: Offer): void {
    const given = this.start.arguments?.(offer.tool.inputSchema);
    if (!this.#isPressed) return void openForm(this.workbench, offer, { given });
    keepForm(this.workbench, offer, { given });
    const text = `${offer.tool.name} of ${offer.server.about} is ready: its form is in Tools.`;
    this.workbench.say({ text, isBad: false });
  }

  /** The given arguments wait in the form of the operation that was probably meant. */
  #missed(operation: string): void {
    const { workbench, start } = this;
    const names = this.#servers.flatMap(server => toolsOf(server).map(({ name }) => name));
    const meant = nearest(operation, names);
    const [offer] = this.#offers(meant[0] ?? '');
    if (offer && !this.#isPressed)
      workbench.tools.set({ selected: operationKey(offer.server.id, offer.tool.name) });
    if (offer && start.arguments)
      keepForm(workbench, offer, { given: start.arguments(offer.tool.inputSchema) });
    workbench.complain(
      [`No operation "${operation}" is offered.`, suggestion(meant)].filter(Boolean).join(' '),
    );
  }
}

/** None is still loading. */
function areLoaded(servers: readonly Server[]): boolean {
  const kinds = servers.map(({ state }) => state.kind);
  return kinds.includes('ready') && kinds.every(kind => kind === 'ready' || kind === 'failed');
}

/** The workbench with its keys, and what it shows first. @param onChange see {@link ListScreen} */
export function createWorkbench(options: SessionOptions, onChange: () => void) {
  const workbench = new Workbench(options, WORKBENCH_KEYS, runForm, onChange);
  const starter = new Starter(options.start, workbench);
  if (options.start.transcript !== undefined) void openTranscript(workbench, options.start.transcript);
  return {
    workbench,
    press(input: string, key: Key): void {
      starter.pressed();
      workbench.press(input, key);
    },
    frame: workbench.frame.bind(workbench),
    event: workbench.event.bind(workbench),
    /** Call it when servers or volumes have changed. */
    changed: () => starter.changed(),
  };
}

/** The workbench, full screen. Needs a terminal on both ends. */
export function workbenchScreen(options: WorkbenchOptions): { close(): Promise<void> } {
  const { subscribe, onEvent, ...stage } = options;
  const view = createWorkbench(options, () => screen.changed());
  const screen = fullScreen(view, stage);
  const changed = () => {
    view.changed();
    screen.changed();
  };
  const stops = [
    subscribe(changed),
    onEvent(event => {
      view.event(event);
      screen.changed();
    }),
  ];
  changed();
  return {
    async close() {
      for (const stop of stops) stop();
      await screen.close();
    },
  };
}
