import type { Tool } from '../../protocol/toolset.js';
import { cut } from '../../util/json-diagnosis.js';
import { safeJson } from '../../util/redact-json.js';
import { atList } from '../calls/list.js';
import { type Askable, openPicker, type Picker } from '../picker.js';
import { withFaults } from './form/form.js';
import {
  type Draft,
  fixtureName,
  type Said,
  type Sent,
  type Server,
  type SessionOptions,
  TRANSCRIPT_NAME,
  type World,
} from './model.js';
import {
  type CallPlace,
  type Filling,
  isRunAgain,
  isSamePlace,
  type Looking,
  type Order,
  type Prompt,
  type Purpose,
  refilled,
  type State,
  serverEntryId,
} from './state.js';

/** What a doing works with: what is looked at, what can be made happen, and how to tell of it. */
export interface House extends Pick<SessionOptions, 'world' | 'controls'> {
  readonly state: State;
  readonly looking: Looking;
  /** How far what stands in front can be scrolled. */
  readonly most: number;
  change(change: Partial<State>): void;
  say(said: Said | null): void;
}

export const good = (text: string): Said => ({ text, isBad: false });

export const bad = (text: string): Said => ({ text, isBad: true });

/** An operation, and who offers it. */
export interface Offer {
  readonly server: Server;
  readonly tool: Tool;
}

/** Every server that offers an operation of this name. */
export function offersOf({ servers }: Pick<World, 'servers'>, operation: string): readonly Offer[] {
  return servers.flatMap(server => {
    const { state } = server;
    const tool =
      state.kind === 'ready' ? state.toolset.tools.find(({ name }) => name === operation) : undefined;
    return tool ? [{ server, tool }] : [];
  });
}

/** Those that the selected call may have been made by: it is known of what this session did, else its endpoint tells. */
export function ownOffers(
  offers: readonly Offer[],
  { volume, exchange }: Looking,
  { serverOf }: World,
): readonly Offer[] {
  if (!exchange) return [];
  const id = volume.isLive ? serverOf(exchange.key) : null;
  return offers.filter(({ server }) =>
    volume.isLive ? server.id === id : endpointOf(server) === exchange.endpoint,
  );
}

function endpointOf({ state }: Server): string | null {
  return state.kind === 'ready' ? state.toolset.endpoint : null;
}

/** Characters: what does not fit on the screen is counted there. */
const LONGEST_NAME = 200;
const LONGEST_ARGUMENTS = 4_000;

/** Asks whether a destructive operation is to be called: where, and with what. Not to is the default. */
function askConsent({ change }: House, order: Order, offer: Offer): void {
  change({ overlay: { kind: 'consent', order, picker: consentPicker(order.draft, offer) } });
}

function consentPicker({ operation, arguments: args }: Draft, { server }: Offer): Picker<Askable> {
  return openPicker({
    prompt: [
      `${nameOf(operation)} is marked destructive. Call it?`,
      `At ${nameOf(server.about)}, with ${cut(safeJson(args), LONGEST_ARGUMENTS)}`,
    ].join('\n'),
    choices: ['Call it', 'Do not call it'],
    default: 1,
  });
}

/** A foreign name takes no line that could pass for one of ours. */
function nameOf(text: string): string {
  return cut(text, LONGEST_NAME).replaceAll('\n', '␊');
}

/** The person said no: nothing is sent, that is on record, and they are told how they could have it otherwise. */
export async function decline({ controls, say: tell }: House, order: Order): Promise<void> {
  const { draft } = order;
  const said = await controls.decline(draft);
  const again = isRunAgain(order) ? 'r' : 'Ctrl-R';
  tell({ ...said, text: `${nameOf(draft.operation)}: ${said.text}. ${again}, then 0, calls it.` });
}

/** Sends it, or asks first. */
export function place(house: House, order: Order): void {
  const { server: id, operation } = order.draft;
  const offer = offersOf(house.world, operation).find(({ server }) => server.id === id);
  if (!offer) house.say(bad(`${operation} is not offered any more.`));
  else if (house.controls.needsConsent(id, operation)) askConsent(house, order, offer);
  else void send(house, order);
}

/**
 * Sends a draft, and shows its call; or its own form with what is wrong. Whoever has gone on to something else is only told.
 * @param isAgreed a person agreed to this very call
 */
export async function send(house: House, order: Order, isAgreed = false): Promise<void> {
  const { draft, validates } = order;
  house.change({ orders: [...house.state.orders, order] });
  const before = house.state;
  const sent = await house.controls.run(draft, { validates, isAgreed });
  const isStill = isSamePlace(before, house.state);
  house.change({ orders: house.state.orders.filter(each => each !== order) });
  house.change(refilled(house.state, order.of, filling => withAnswer(filling, sent, isStill)));
  if (sent.kind === 'sent' && isStill) house.change(shown(house.state, sent.key));
  else house.say(isStill ? bad(whyNot(sent, order)) : tidings(sent, order));
}

/** What is wrong, at its fields; whoever is typing stays in the field that they are in. */
function withAnswer(filling: Filling, sent: Sent, isStill: boolean): Filling {
  if (sent.kind !== 'invalid') return filling;
  const { form } = filling;
  return { ...filling, form: isStill ? withFaults(form, sent.faults) : { ...form, faults: sent.faults } };
}

/** For somebody who is doing something else by now. */
function tidings(sent: Sent, order: Order) {
  const { operation } = order.draft;
  return sent.kind === 'sent'
    ? good(`${operation} was sent: see Calls.`)
    : bad(`${operation}: ${whyNot(sent, order)}`);
}

function whyNot(sent: Sent, order: Order): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRunAgain(order) ? 'e edits them.' : 'Ctrl-T sends them as they are.';
  return `Not sent: the arguments do not match the inputSchema. ${next}`;
}

/** The new call. What was edited of another one is in it, and begins anew the next time. */
function shown({ calls, filling }: State, key: string): Partial<State> {
  return {
    page: 'calls',
    calls: { ...atList(calls), volume: 0, selected: key, tab: 'result' },
    filling: filling?.about === null ? filling : null,
  };
}

/** Asks for a line of text: what for decides what becomes of it. */
export function askFor(
  purpose: Purpose,
  { change }: Pick<House, 'change'>,
  text = '',
  about: CallPlace | null = null,
): void {
  change({ overlay: { kind: 'prompt', prompt: { purpose, text, cursor: text.length, about } } });
}

export function askTranscriptPath(house: House): void {
  void askWhere('save-transcript', house, TRANSCRIPT_NAME);
}

export function askFixturePath(house: House): void {
  const { exchange, volume } = house.looking;
  if (exchange?.settled)
    void askWhere('save-fixture', house, fixtureName(exchange.invocation.operation), {
      key: exchange.key,
      volume: volume.id,
    });
  else
    house.say(
      bad(
        exchange ? 'Nothing came of the call yet that a fixture could replay.' : 'There is no call to save.',
      ),
    );
}

/** Offers a name that nothing has, as soon as that is known; whoever types already is left alone. */
async function askWhere(
  purpose: Purpose,
  house: House,
  name: string,
  about: CallPlace | null = null,
): Promise<void> {
  askFor(purpose, house, name, about);
  const { overlay: asked } = house.state;
  const free = await house.controls.freeName(name);
  if (house.state.overlay === asked) askFor(purpose, house, free, about);
}

/** What was typed is done. */
export function fulfil(prompt: Prompt, house: House): void {
  const { purpose, text, about } = prompt;
  const { controls } = house;
  const value = text.trim();
  if (value === '') return;
  if (purpose === 'server') openServer(prompt, value, house);
  else if (purpose === 'transcript') void openTranscript(prompt, value, house);
  else if (purpose === 'save-transcript') void tell(prompt, house, controls.saveTranscript(value));
  else if (about) void tell(prompt, house, controls.saveFixture(about.key, about.volume, value));
}

/** Its row is selected: what it offers will be below. */
function openServer(prompt: Prompt, target: string, house: House): void {
  const opened = house.controls.open(target);
  const { tools } = house.state;
  if ('isBad' in opened) askAgain(prompt, house, opened);
  else
    house.change({ page: 'tools', tools: { ...tools, selected: serverEntryId(opened.server), scroll: 0 } });
}

/** What was opened is shown, though not all of it could be read; nobody who is typing meanwhile is led away. */
async function openTranscript(prompt: Prompt, path: string, house: House): Promise<void> {
  const { controls, world } = house;
  const known = new Set(world.volumes);
  const before = house.state;
  const said = await controls.openTranscript(path);
  const volume = world.volumes.find(each => !known.has(each)); // one that is opened again replaces what it was
  if (!volume && said.isBad && isSamePlace(before, house.state)) return askAgain(prompt, house, said);
  house.say(said);
  const { calls, overlay, page } = house.state;
  if (!volume || overlay || page === 'form') return;
  house.change({ page: 'calls', calls: { ...atList(calls), volume: volume.id, selected: null } });
}

/** What came of it. */
async function tell(prompt: Prompt, house: House, work: Promise<Said>): Promise<void> {
  const before = house.state;
  const said = await work;
  if (said.isBad && isSamePlace(before, house.state)) askAgain(prompt, house, said);
  else house.say(said);
}

/** The line is there again, to be mended. */
function askAgain(prompt: Prompt, house: House, said: Said): void {
  house.change({ overlay: { kind: 'prompt', prompt } });
  house.say(said);
}
