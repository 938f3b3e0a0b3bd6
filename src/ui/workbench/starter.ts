import { nearest, offer as offered } from '../../text/nearest.js';
import { fulfil } from './doings/files.js';
import { type House, keepForm, type Offer, offersOf, openForm } from './doings/index.js';
import type { Start } from './options.js';
import { operationEntryId } from './state/entries.js';
import type { Server } from './world.js';

/** What was asked for on the command line: its form opens once its operation is known. Whoever has pressed a key by then is only told. */
export class Starter {
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
