import { canBeGivenUp } from '../../events/exchange.js';
import { openPages } from '../../events/questions.js';
import { type Line, quote, say } from '../../render/line.js';
import { cut } from '../../util/json-diagnosis.js';
import { REDACTED } from '../../util/redact.js';
import { atList } from '../calls/list.js';
import { openPicker } from '../picker.js';
import { argumentsOf, type Form, formOf, reformed, withOtherFaults } from './form/form.js';
import type { Command } from './keys.js';
import { type Draft, rivalWords, type ShellLine } from './model.js';
import {
  askFixturePath,
  askFor,
  askTranscriptPath,
  bad,
  type House,
  type Offer,
  offersOf,
  ownOffers,
  place,
} from './send.js';
import {
  type Entry,
  entriesOf,
  entryIndex,
  type Filling,
  filledIn,
  fillingOf,
  firstLineOf,
  isSamePlace,
  isUnderWay,
  type Looking,
  leftBehind,
  openQuestion,
} from './state.js';

/** Puts the tool's question to the person: that of the selected call, else the oldest of all, whose call is selected then. */
function askQuestion({ looking, world, state, change, say: tell }: House): void {
  const live = world.volumes[0];
  const open = live && openQuestion(looking.volume.isLive ? looking : { ...looking, key: null }, live.book);
  if (!open) {
    tell(bad('No tool asks anything now.'));
    return;
  }
  const { key, leg, question } = open;
  const operation = live.book.history.exchanges.get(key)?.invocation.operation ?? '';
  const asker = [...quote(operation, 'title'), say(' asks in ', 'dim'), ...quote(question.id)];
  const isRead = looking.volume === live && looking.key === key;
  const calls = { ...(isRead ? state.calls : atList(state.calls)), volume: live.id, selected: key };
  change({ calls, overlay: { kind: 'question', key, leg, picker: { ...openPicker(question), asker } } });
}

async function cancel({ looking, controls, say: tell }: House): Promise<void> {
  const { exchange, volume } = looking;
  if (!exchange) return tell(bad('There is no call to cancel.'));
  if (!volume.isLive) return tell(bad('A call of a transcript is over: nothing can be canceled.'));
  if (!canBeGivenUp(exchange)) return tell(bad('The call is over, and it has no open subscription.'));
  tell(await controls.cancel(exchange.key));
}

async function visit({ looking, controls, say: tell }: House): Promise<void> {
  const url = pageOf(looking);
  tell(url === null ? bad(NO_PAGE) : await controls.visit(url));
}

const NO_PAGE = 'The call waits for no consent.';

/** The page that the call waits for; null where it waits for none. */
function pageOf({ exchange, volume }: House['looking']): string | null {
  return exchange && volume.isLive ? (openPages(exchange)[0]?.auth_url ?? null) : null;
}

function copyConsent(house: House): void {
  const url = pageOf(house.looking);
  if (url === null) house.say(bad(NO_PAGE));
  else copyAndShow(house, url, null);
}

function copyCurl(house: House): void {
  const { looking, controls } = house;
  const { key, volume } = looking;
  const line = key === null ? null : controls.asCurl(key, volume.id);
  if (line) copyAndShow(house, line.text, line.gaps);
  else house.say(key === null ? NO_CALL : bad('Nothing of this call was sent that could be copied.'));
}

/** Whoever has gone on to something else by then is left alone. */
async function copyCommand(house: House): Promise<void> {
  const { looking, controls, state: before } = house;
  const { key, volume } = looking;
  if (key === null) return house.say(NO_CALL);
  const line = await controls.asCommand(key, volume.id);
  if (!isSamePlace(before, house.state)) return;
  if (!('isBad' in line)) copyAndShow(house, line.text, line.gaps);
  else house.say(controls.asCurl(key, volume.id) ? bad(`${line.text}. y copies it as curl.`) : line);
}

const NO_CALL = bad('There is no call to copy.');

/** Characters. More of it nobody copies by hand. */
const MOST_SHOWN = 20_000;

/** Not every terminal lets a program have its clipboard: what was copied can be copied by hand too. @param gaps null where it is no command */
function copyAndShow({ controls, change }: House, text: string, gaps: ShellLine['gaps'] | null): void {
  const { text: said, isBad } = controls.copy(text);
  const title = [say(said, isBad ? 'bad' : 'good'), ...(gaps ? gapsLine(gaps) : [])];
  const shown = cut(text, MOST_SHOWN);
  change({ overlay: { kind: 'copied', title, text: shown, isShell: gaps !== null, scroll: 0 } });
}

function gapsLine(gaps: readonly string[]): Line {
  return gaps.length === 0 ? [] : [say('; put in your ', 'warn'), ...quote(gaps.join(', '), 'warn')];
}

/** What a form begins with. */
interface Beginning {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** The name of the call that is edited; none unless told. */
  readonly about?: string;
}

/** Opens a form; one that is filled in already stays as it was left, and what it sent stays on its way. */
export function openForm(
  house: Pick<House, 'state' | 'change'>,
  offer: Offer,
  beginning: Beginning = {},
): void {
  const { state, change } = house;
  change({ page: 'form', ...filledIn(state, fillingFor(house, offer, beginning)) });
}

/** Has a form ready for whoever opens it; it is not opened now. */
export function keepForm(house: Pick<House, 'state' | 'change'>, offer: Offer, beginning: Beginning): void {
  const { state, change } = house;
  const filling = fillingFor(house, offer, beginning);
  if (filling.id !== state.filling?.id) change(leftBehind(state, filling));
}

function fillingFor({ state }: Pick<House, 'state'>, offer: Offer, beginning: Beginning): Filling {
  const { server, tool } = offer;
  const { about = null } = beginning;
  const known = fillingOf(state, { server: server.id, operation: tool.name, about });
  return known ? kept(known, offer) : fresh(offer, beginning);
}

function fresh({ server, tool }: Offer, { given, about }: Beginning): Filling {
  const { name, description, inputSchema } = tool;
  return {
    id: Symbol(name),
    server: server.id,
    operation: name,
    about: about ?? null,
    description: firstLineOf(description),
    form: formOf(inputSchema, given),
  };
}

/** Its server may have been asked once more since. */
function kept(filling: Filling, { tool: { description, inputSchema } }: Offer): Filling {
  return {
    ...filling,
    description: firstLineOf(description),
    form: reformed(filling.form, inputSchema),
  };
}

/**
 * The arguments of the form, sent; what is wrong with them is shown at the fields. A destructive call is asked about first.
 * @param validates against the `inputSchema`; else they are sent as they are
 */
function runForm(house: House, validates = true): void {
  const { filling, orders } = house.state;
  if (!filling || isUnderWay(orders, filling.id)) return;
  const args = argumentsOf(filling.form, validates);
  if (!args.ok) void tellFaults(house, filling, args.form, validates ? args.others : null);
  else if (validates && isCensored(args.value))
    house.say(bad(`Not sent: ${REDACTED} stands where a secret was. Ctrl-T sends it as it is.`));
  else place(house, { draft: draftOf(filling, args.value), validates, of: filling.id });
}

/** What cannot be read, at once; beside it what the `inputSchema` says of the others, unless the form is another one by then. */
async function tellFaults(
  house: House,
  filling: Filling,
  form: Form,
  others: Draft['arguments'] | null,
): Promise<void> {
  house.change({ filling: { ...filling, form } });
  if (others === null) return;
  const faults = await house.controls.check(draftOf(filling, others));
  const { filling: now } = house.state;
  if (now?.form === form) house.change({ filling: { ...now, form: withOtherFaults(form, faults) } });
}

function draftOf({ server, operation }: Filling, args: Draft['arguments']): Draft {
  return { server, operation, arguments: args };
}

/** The selected call once more, by the server that had it, with the same arguments, validated or not, in a thread of its own. */
function runAgain(house: House): void {
  const again = againOf(house);
  if (!again) return;
  const { own, doubt, id, operation, args, validates, hasGaps } = again;
  if (isUnderWay(house.state.orders, id)) house.say(bad('Not run: it is on its way already.'));
  else if (doubt !== null) house.say(bad(`Not run: ${doubt} e opens its form at ${own.server.about}.`));
  else if (hasGaps) house.say(bad(`Not run: ${REDACTED} stands where a secret was. e edits the arguments.`));
  else
    place(house, {
      draft: { server: own.server.id, operation, arguments: args },
      validates,
      of: id,
    });
}

/** The selected call's arguments in the form of its operation, be it of another server. */
function editAgain(house: House): void {
  const again = againOf(house);
  if (!again) return;
  const { own, doubt, id, args, hasGaps } = again;
  openForm(house, own, { given: args, about: id });
  const notes = [
    ...(doubt === null ? [] : [`This form is of ${own.server.about}: ${doubt}`]),
    ...(hasGaps ? [`${REDACTED} stands where a secret was: type it in.`] : []),
  ];
  if (notes.length > 0) house.say(bad(notes.join(' ')));
}

/** What the selected call would be once more: by its own server, or by another where there is a `doubt`. */
function againOf({ looking, world, say: tell }: House) {
  const { exchange, volume } = looking;
  if (!exchange) {
    tell(bad('There is no call to run again.'));
    return null;
  }
  const { operation, arguments: args } = exchange.invocation;
  const offers = offersOf(world, operation);
  const owns = ownOffers(offers, looking, world);
  const own = owns.find(isDestructive) ?? owns[0] ?? offers[0];
  if (!own) {
    tell(bad(`No tool server that is open offers ${operation}: u opens one.`));
    return null;
  }
  const id = `${volume.id} ${exchange.key}`;
  const validates = !(volume.isLive && world.isUnvalidated(exchange.key));
  return {
    own,
    doubt: doubtOf(owns.length),
    id,
    operation,
    args,
    validates,
    hasGaps: hasGaps(looking, args),
  };
}

function isDestructive({ tool: { annotations } }: Offer): boolean {
  return annotations?.destructive === true;
}

/** Why it cannot be told by whom a call is made once more; null where one may have made it. */
function doubtOf(count: number): string | null {
  if (count === 1) return null;
  return count === 0
    ? 'its own tool server does not offer it now.'
    : `${count} tool servers that are open name its endpoint.`;
}

/** A transcript has no secrets; what this session sent is known as it was. */
function hasGaps({ volume }: Looking, args: unknown): boolean {
  return !volume.isLive && isCensored(args);
}

function isCensored(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}

/** An operation: its form. A server: it is started, or asked once more. */
function chooseEntry(house: House): void {
  const { entries, at } = selectedIn(house);
  const entry = entries[at];
  if (!entry) return;
  if (entry.kind === 'operation') fillIn(house, entry);
  else if (entry.server.state.kind !== 'loading') house.controls.wake(entry.server.id);
}

/** Nobody fills in a form that cannot be sent (RT-TOOLSET). */
function fillIn(house: House, entry: Extract<Entry, { kind: 'operation' }>): void {
  const { rivals, tool } = entry;
  if (rivals < 2) openForm(house, entry);
  else house.say(bad(`${tool.name}: ${rivalWords(rivals)}: u opens one by its URL.`));
}

/** A server that failed is taken out; what stood below it is selected then. */
function dismissServer(house: House): void {
  const { entries, at } = selectedIn(house);
  const entry = entries[at];
  if (entry?.kind !== 'server' || entry.server.state.kind !== 'failed') {
    house.say(bad('Only a server that could not be reached can be taken out: none is selected.'));
    return;
  }
  const next = entries[at + 1] ?? entries[at - 1];
  house.controls.dismiss(entry.server.id);
  house.change({ tools: { ...house.state.tools, selected: next?.id ?? null, scroll: 0 } });
}

function selectedIn({ world, state }: House): { readonly entries: readonly Entry[]; readonly at: number } {
  const entries = entriesOf(world.servers);
  return { entries, at: entryIndex(entries, state.tools.selected) };
}

/** What commands do besides moving the eye. */
const DOINGS: Partial<Readonly<Record<Command, (house: House) => void>>> = {
  openServer: house => askFor('server', house),
  dismiss: dismissServer,
  openTranscript: house => askFor('transcript', house),
  saveTranscript: askTranscriptPath,
  search: house => askFor('search', house),
  saveFixture: askFixturePath,
  runForm: house => runForm(house),
  runUnchecked: house => runForm(house, false),
  runAgain,
  editAgain,
  answer: askQuestion,
  cancel: house => void cancel(house),
  visit: house => void visit(house),
  copyConsent,
  copyCurl,
  copyCommand: house => void copyCommand(house),
};

/** Does what a command asks for. False where it is none that does anything. */
export function perform(command: Command, house: House): boolean {
  const doing = command === 'enter' && house.state.page === 'tools' ? chooseEntry : DOINGS[command];
  doing?.(house);
  return doing !== undefined;
}
