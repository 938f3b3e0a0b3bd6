import { canBeGivenUp, type Exchange, openPages } from '../../events/exchange.js';
import type { Tool } from '../../protocol/toolset.js';
import { quote, say } from '../../render/line.js';
import { widthOf } from '../../render/terminal/theme.js';
import { REDACTED, safeJson } from '../../util/redact.js';
import { cut } from '../../util/text.js';
import { openPicker } from '../picker.js';
import { openChoice } from './calls.js';
import { Form } from './form/form.js';
import {
  type Draft,
  definitionsWords,
  fixtureName,
  type Said,
  type Sent,
  type Server,
  type ShellLine,
  TRANSCRIPT_NAME,
} from './model.js';
import { entriesOf, entryKey, firstLineOf, toolsOf } from './tools.js';
import type { OpenForm, Sending, Workbench } from './workbench.js';

export interface Offer {
  readonly server: Server;
  readonly tool: Tool;
}

export function offersOf(servers: readonly Server[], operation: string): readonly Offer[] {
  return servers.flatMap(server => {
    const tool = toolsOf(server).find(({ name }) => name === operation);
    return tool ? [{ server, tool }] : [];
  });
}

interface FormInput {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  readonly about?: string | null;
  /** False: it is only filled in. */
  readonly isShown?: boolean;
}

/** Opens the form of an operation; one that was filled in before is as it was left, though its schema may have changed. */
export function openForm(
  workbench: Workbench,
  { server, tool }: Offer,
  { given, about = null, isShown = true }: FormInput = {},
): void {
  const { name, description, inputSchema } = tool;
  const subject = { server: server.id, operation: name, about };
  const known = workbench.formLike(subject);
  const form = known ? known.form.withSchema(inputSchema) : Form.of(inputSchema, given);
  const id = known?.id ?? Symbol(name);
  workbench.keepForm({ ...subject, id, form, description: firstLineOf(description) }, isShown);
  if (isShown) workbench.go('form');
}

export function enterEntry(workbench: Workbench): void {
  const { entry } = workbench.tools;
  if (entry?.kind === 'server') {
    if (entry.server.state.kind !== 'loading') workbench.controls.wake(entry.server.id);
  } else if (entry && entry.definitions > 1)
    workbench.complain(`${entry.tool.name}: ${definitionsWords(entry.definitions)}: u opens one by its URL.`);
  else if (entry) openForm(workbench, entry);
}

/** Restarts the server of the selected entry; loads one again that was not started here. */
export function restartServer({ tools: { entry }, controls }: Workbench): void {
  if (entry?.server.output) controls.restart(entry.server.id);
  else if (entry) controls.wake(entry.server.id);
}

export function removeServer(workbench: Workbench): void {
  const { world, tools } = workbench;
  const { entry } = tools;
  if (entry?.kind !== 'server' || entry.server.state.kind !== 'failed')
    return void workbench.complain('Only a server that could not be reached can be removed. Select one.');
  const entries = entriesOf(world.servers);
  const at = entries.findIndex(({ key }) => key === entry.key);
  const next = entries[at + 1] ?? entries[at - 1];
  workbench.controls.dismiss(entry.server.id);
  tools.set({ selected: next?.key ?? null });
}

/** Sends the form; shows invalid arguments at their fields. @param validates against the `inputSchema` */
export function runForm(workbench: Workbench, validates = true): void {
  const { form } = workbench;
  if (!form || workbench.isSending(form.id)) return;
  const args = form.form.arguments(validates);
  if (!args.ok) workbench.changeForm(form.id, () => args.form);
  else if (validates && isRedacted(args.value))
    workbench.complain(`Not sent: ${REDACTED} replaces a secret. Ctrl-T sends it as it is.`);
  else place(workbench, { draft: draftOf(form, args.value), validates, from: form.id });
}

function draftOf({ server, operation }: OpenForm, args: Draft['arguments']): Draft {
  return { server, operation, arguments: args };
}

function isRedacted(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}

function place(workbench: Workbench, sending: Sending): void {
  const { server: id, operation } = sending.draft;
  const offer = offersOf(workbench.world.servers, operation).find(({ server }) => server.id === id);
  if (!offer) workbench.complain(`${operation} is not offered any more.`);
  else if (workbench.controls.needsConsent(id, operation)) askConsent(workbench, sending, offer.server);
  else void send(workbench, sending);
}

/** Longer texts are cut: the screen counts what does not fit. */
const LONGEST = { name: 200, arguments: 4_000 };

/** A foreign name must not look like a line of ours. */
function nameOf(text: string): string {
  return cut(text, LONGEST.name).replaceAll('\n', '␊');
}

/** Asks whether to call a destructive operation. The default is not to. */
function askConsent(workbench: Workbench, sending: Sending, { about }: Server): void {
  const { operation, arguments: args } = sending.draft;
  const decline = async () => {
    const { text, isBad } = await workbench.controls.decline(sending.draft);
    const again = isRerun(sending) ? 'r' : 'Ctrl-R';
    workbench.report({ text: `${nameOf(operation)}: ${text}. ${again}, then 0, calls it.`, isBad });
  };
  const prompt = [
    `${nameOf(operation)} is marked destructive. Call it?`,
    `At ${nameOf(about)}, with ${cut(safeJson(args), LONGEST.arguments)}`,
  ];
  workbench.show({
    kind: 'question',
    picker: openPicker({ prompt: prompt.join('\n'), choices: ['Call it', 'Do not call it'], default: 1 }),
    onPick: selected => void (selected === 0 ? send(workbench, sending, true) : decline()),
    onEscape: decline,
    escapeHint: 'do not call it',
  });
}

function isRerun({ from }: Sending): boolean {
  return typeof from === 'string';
}

/** Sends a draft, then shows its call, or the faults in its form. A user who has moved on only gets a notice. */
async function send(workbench: Workbench, sending: Sending, isAgreed = false): Promise<void> {
  const { draft, validates, from } = sending;
  workbench.sending = [...workbench.sending, sending];
  const { position } = workbench;
  const sent = await workbench.controls.run(draft, { validates, isAgreed });
  const isHere = workbench.isAt(position);
  workbench.sending = workbench.sending.filter(each => each !== sending);
  if (sent.kind === 'invalid') workbench.changeForm(from, form => form.withFaults(sent.faults, isHere));
  if (sent.kind !== 'sent')
    workbench.complain(`${isHere ? '' : `${draft.operation}: `}${reasonOf(sent, sending)}`);
  else if (isHere) showSent(workbench, sent.key);
  else workbench.say(`${draft.operation} was sent: see Calls.`, 'good');
}

function reasonOf(sent: Exclude<Sent, { kind: 'sent' }>, sending: Sending): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRerun(sending) ? 'e edits them.' : 'Ctrl-T sends them as they are.';
  return `Not sent: the arguments do not match the inputSchema. ${next}`;
}

/** The form of an edited call starts anew next time. */
function showSent(workbench: Workbench, key: string): void {
  if (workbench.form && workbench.form.about !== null) workbench.form = null;
  workbench.calls.set({ tab: 'result' });
  workbench.showCalls(0, key);
}

/** Sends the selected call again: to the same server, with the same arguments, validated or not, in a new thread. */
export function runAgain(workbench: Workbench): void {
  const call = selectedCall(workbench);
  if (!call) return;
  const { exchange, offer, doubt, name, validates } = call;
  const { operation, arguments: args } = exchange.invocation;
  const draft = { server: offer.server.id, operation, arguments: args };
  if (workbench.isSending(name)) workbench.complain('Not run: it is being sent already.');
  else if (doubt !== null) workbench.complain(`Not run: ${doubt} e opens its form at ${offer.server.about}.`);
  else if (call.isRedacted)
    workbench.complain(`Not run: ${REDACTED} replaces a secret. e edits the arguments.`);
  else place(workbench, { draft, validates, from: name });
}

/** Opens the form of the selected call's operation with its arguments, if need be at another server. */
export function editAgain(workbench: Workbench): void {
  const call = selectedCall(workbench);
  if (!call) return;
  const { exchange, offer, doubt, name } = call;
  openForm(workbench, offer, { given: exchange.invocation.arguments, about: name });
  const notes = [
    ...(doubt === null ? [] : [`This is the form of ${offer.server.about}: ${doubt}`]),
    ...(call.isRedacted ? [`${REDACTED} replaces a secret: type it in.`] : []),
  ];
  if (notes.length > 0) workbench.complain(notes.join(' '));
}

interface SelectedCall {
  readonly exchange: Exchange;
  readonly offer: Offer;
  /** Why this may not be the server that the call was made to. */
  readonly doubt: string | null;
  readonly name: string;
  readonly validates: boolean;
  /** A transcript does not hold the secrets that were sent. */
  readonly isRedacted: boolean;
}

/** The selected call and the server to send it to; complains if absent. */
function selectedCall(workbench: Workbench): SelectedCall | null {
  const { exchange, volume, world } = workbench;
  if (!exchange) {
    workbench.complain('No call to run again.');
    return null;
  }
  const { operation, arguments: args } = exchange.invocation;
  const offers = offersOf(world.servers, operation);
  const id = volume.isLive ? world.serverOf(exchange.key) : null;
  const owners = offers.filter(({ server: { id: own, state } }) => {
    if (volume.isLive) return own === id;
    return state.kind === 'ready' && state.toolset.endpoint === exchange.endpoint;
  });
  const offer = owners.find(({ tool }) => tool.annotations?.destructive === true) ?? owners[0] ?? offers[0];
  if (!offer) {
    workbench.complain(`No open tool server offers ${operation}: u opens one.`);
    return null;
  }
  return {
    exchange,
    offer,
    doubt: doubtOf(owners.length),
    name: `${volume.id} ${exchange.key}`,
    validates: !(volume.isLive && world.isUnvalidated(exchange.key)),
    isRedacted: !volume.isLive && isRedacted(args),
  };
}

function doubtOf(owners: number): string | null {
  if (owners === 1) return null;
  return owners === 0
    ? 'its own tool server does not offer it now.'
    : `${owners} open tool servers have its endpoint.`;
}

/** Shows the question of a tool: of the selected call, else the oldest of all, and selects its call. */
export function answerQuestion(workbench: Workbench): void {
  const { volume, calls, world } = workbench;
  const live = world.volumes[0];
  const open = live && openChoice(volume.isLive ? calls.selected : null, live.book);
  if (!open) return void workbench.complain('No tool asks anything now.');
  const { key, leg, question } = open;
  const operation = live.book.history.exchanges.get(key)?.invocation.operation ?? '';
  const asker = [...quote(operation, 'title'), say(' asks in ', 'dim'), ...quote(question.id)];
  if (volume !== live || calls.selected !== key) workbench.showCalls(live.id, key);
  else calls.set({ selected: key });
  workbench.show({
    kind: 'question',
    picker: { ...openPicker(question), asker },
    onPick: selected => {
      const said = workbench.controls.answer(key, leg, selected);
      if (said) workbench.report(said);
    },
    escapeHint: 'later',
  });
}

export async function cancelCall(workbench: Workbench): Promise<void> {
  const { exchange, volume } = workbench;
  if (!exchange) return workbench.complain('No call to cancel.');
  if (!volume.isLive) return workbench.complain('A call of a transcript is over: it cannot be canceled.');
  if (!canBeGivenUp(exchange))
    return workbench.complain('The call is over, and it has no open subscription.');
  workbench.report(await workbench.controls.cancel(exchange.key));
}

export async function useConsentPage(workbench: Workbench, how: 'visit' | 'copy'): Promise<void> {
  const { exchange, volume, controls } = workbench;
  const [page] = exchange && volume.isLive ? openPages(exchange) : [];
  if (!page) workbench.complain('The call waits for no consent.');
  else if (how === 'copy') copy(workbench, page.auth_url, null);
  else workbench.report(await controls.visit(page.auth_url));
}

export async function copyCall(workbench: Workbench, how: 'curl' | 'command'): Promise<void> {
  const { controls, calls, volume, position } = workbench;
  const key = calls.selected;
  if (key === null) return workbench.complain('No call to copy.');
  const curl = controls.asCurl(key, volume.id);
  const line = how === 'curl' ? curl : await controls.asCommand(key, volume.id);
  if (!workbench.isAt(position)) return;
  if (!line) workbench.complain('Nothing of this call was sent that could be copied.');
  else if (!('isBad' in line)) copy(workbench, line.text, line.gaps);
  else if (curl) workbench.complain(`${line.text}. y copies it as curl.`);
  else workbench.report(line);
}

/** More is not copied by hand. */
const MOST_SHOWN = 20_000;

/** Copies a text, and shows it: not every terminal supports clipboard access. @param gaps null unless it is a command */
function copy(workbench: Workbench, text: string, gaps: ShellLine['gaps'] | null): void {
  const { text: said, isBad } = workbench.controls.copy(text);
  const missing = gaps?.length ? [say('; put in your ', 'warn'), ...quote(gaps.join(', '), 'warn')] : [];
  const shown = cut(text, MOST_SHOWN);
  workbench.show({
    kind: 'page',
    title: [say(said, isBad ? 'bad' : 'good'), ...missing],
    lines: columns => (gaps ? shellRows(shown, columns) : [shown]).map(line => quote(line)),
    scroll: 0,
  });
}

/**
 * A POSIX shell command on rows of so many cells that is still the same command when it is pasted: a row that ends in a backslash
 * continues in the next one. It is split between words, and within a word that is wider than a row.
 * @param text its words are plain, single-quoted, or escaped by backslashes; its line breaks are kept
 */
export function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(2, columns - 2);
  // A quoted text knows no escapes; elsewhere a character stays with its backslash.
  const atoms = text.match(/'[^']*'?|\\[\s\S]|[^']/gu) ?? [];
  const rows: string[] = [];
  let row = '';
  let gap = 0;
  let isQuoted = false;
  for (const atom of atoms.flatMap(each => (each.startsWith("'") ? [...each] : [each]))) {
    if (!atom.endsWith('\n') && widthOf(quote(row + atom)) > room) {
      const quotes = gap === 0 && isQuoted ? "'" : '';
      const end = gap || row.length;
      rows.push(`${row.slice(0, end)}${quotes}\\`);
      [row, gap] = [quotes + row.slice(end), 0];
    }
    row += atom;
    if (atom === ' ' && !isQuoted && row.trim() !== '') gap = row.length;
    isQuoted = isQuoted !== (atom === "'");
    if (atom.endsWith('\n')) {
      rows.push(row.slice(0, -1));
      [row, gap] = ['', 0];
    }
  }
  return [...rows, row];
}

export function askServer(workbench: Workbench, text = ''): void {
  const { world } = workbench;
  const complete = async (typed: string) => {
    const urls = world.servers.map(({ about }) => about).filter(about => URL.canParse(about));
    return ['demo', ...urls].filter(word => word.startsWith(typed)).sort();
  };
  const open = (typed: string) => openServer(workbench, typed);
  workbench.ask('Tool server (URL, :port or demo): ', open, { text, complete });
}

export function openServer(workbench: Workbench, typed: string): void {
  const { controls, tools } = workbench;
  if (typed.trim() === '') return;
  const opened = controls.open(typed.trim());
  if ('isBad' in opened) {
    askServer(workbench, typed);
    workbench.report(opened);
  } else {
    tools.set({ selected: entryKey(opened.server) });
    workbench.go('tools');
  }
}

export function askTranscript(workbench: Workbench, text = ''): void {
  const open = (typed: string) => void openTranscript(workbench, typed);
  workbench.ask('Open transcript: ', open, { text, complete: workbench.controls.paths });
}

/** Opens a transcript and shows its calls, unless the user is typing something else by then. */
export async function openTranscript(workbench: Workbench, typed: string): Promise<void> {
  const { world, controls, position } = workbench;
  if (typed.trim() === '') return;
  const known = new Set(world.volumes);
  const said = await controls.openTranscript(typed.trim());
  const volume = world.volumes.find(each => !known.has(each)); // a file that is opened again is a new volume too
  if (!volume && said.isBad && workbench.isAt(position)) askTranscript(workbench, typed);
  workbench.report(said);
  if (volume && !workbench.overlay && workbench.page !== 'form') workbench.showCalls(volume.id);
}

export function askSaveTranscript(workbench: Workbench): void {
  const { saveTranscript } = workbench.controls;
  void askPath(workbench, 'Save the transcript as: ', TRANSCRIPT_NAME, saveTranscript);
}

export function askSaveFixture(workbench: Workbench): void {
  const { exchange, volume, controls } = workbench;
  if (!exchange) return void workbench.complain('No call to save.');
  if (!exchange.settled)
    return void workbench.complain('The call has no result yet that a fixture could replay.');
  const save = (path: string) => controls.saveFixture(exchange.key, volume.id, path);
  void askPath(workbench, 'Save as fixture: ', fixtureName(exchange.invocation.operation), save);
}

/** Suggests a free file name as soon as it is known, unless the user types already; asks again after a failure. */
async function askPath(
  workbench: Workbench,
  label: string,
  name: string,
  save: (path: string) => Promise<Said>,
): Promise<void> {
  const { controls } = workbench;
  const ask = (text: string) =>
    workbench.ask(label, typed => void saveAs(typed), { text, complete: controls.paths });
  const saveAs = async (typed: string) => {
    if (typed.trim() === '') return;
    const { position } = workbench;
    const said = await save(typed.trim());
    if (said.isBad && workbench.isAt(position)) ask(typed);
    workbench.report(said);
  };
  ask(name);
  const asked = workbench.overlay;
  const free = await controls.freeName(name);
  if (workbench.overlay === asked) ask(free);
}
