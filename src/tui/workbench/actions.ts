import { canBeGivenUp, type Exchange } from '../../events/exchange.js';
import type { Tool } from '../../protocol/toolset.js';
import { quote, say } from '../../render/line.js';
import { REDACTED, safeJson } from '../../util/redact.js';
import { cut } from '../../util/text.js';
import { openPicker } from '../picker.js';
import { openChoice } from './calls.js';
import { Form } from './form/form.js';
import type { OpenForm } from './forms.js';
import { type Draft, definitionsWords, type Sent, type Server } from './model.js';
import { entriesOf, firstLineOf, toolsOf } from './tools.js';
import type { Sending, Workbench } from './workbench.js';

/** An operation of a server. */
export interface Offer {
  readonly server: Server;
  readonly tool: Tool;
}

/** All servers with an operation of this name. */
export function offersOf(servers: readonly Server[], operation: string): readonly Offer[] {
  return servers.flatMap(server => {
    const tool = toolsOf(server).find(({ name }) => name === operation);
    return tool ? [{ server, tool }] : [];
  });
}

interface FormInput {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** The name of the call that is edited. */
  readonly about?: string | null;
}

/** Opens the form of an operation; one that was filled in before is as it was left. */
export function openForm(workbench: Workbench, offer: Offer, input: FormInput = {}): void {
  workbench.forms.open(formFor(workbench, offer, input));
  workbench.go('form');
}

/** Fills in a form without opening it. */
export function keepForm(workbench: Workbench, offer: Offer, input: FormInput): void {
  workbench.forms.keep(formFor(workbench, offer, input));
}

/** The schema of a known form may have changed since. */
function formFor(
  workbench: Workbench,
  { server, tool }: Offer,
  { given, about = null }: FormInput,
): OpenForm {
  const { name, description, inputSchema } = tool;
  const subject = { server: server.id, operation: name, about };
  const known = workbench.forms.find(subject);
  return {
    ...subject,
    id: known?.id ?? Symbol(name),
    description: firstLineOf(description),
    form: known ? known.form.withSchema(inputSchema) : Form.of(inputSchema, given),
  };
}

/** Opens the form of the selected operation; starts or reloads the selected server. */
export function enterEntry(workbench: Workbench): void {
  const { entry } = workbench;
  if (entry?.kind === 'server') {
    if (entry.server.state.kind !== 'loading') workbench.controls.wake(entry.server.id);
  } else if (entry && entry.definitions > 1)
    workbench.complain(`${entry.tool.name}: ${definitionsWords(entry.definitions)}: u opens one by its URL.`);
  else if (entry) openForm(workbench, entry);
}

/** Restarts the server of the selected entry; loads one again that was not started here. */
export function restartServer({ entry, controls }: Workbench): void {
  if (entry?.server.output) controls.restart(entry.server.id);
  else if (entry) controls.wake(entry.server.id);
}

/** Removes the selected server if it failed, and selects the entry below it. */
export function removeServer(workbench: Workbench): void {
  const { entry, world, tools } = workbench;
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
  const form = workbench.forms.current;
  if (!form || workbench.isSending(form.id)) return;
  const args = form.form.arguments(validates);
  if (!args.ok) void showFaults(workbench, form, args, validates);
  else if (validates && isRedacted(args.value))
    workbench.complain(`Not sent: ${REDACTED} replaces a secret. Ctrl-T sends it as it is.`);
  else place(workbench, { draft: draftOf(form, args.value), validates, from: form.id });
}

/** Shows at once what cannot be read, then what the `inputSchema` says about the rest. */
async function showFaults(
  workbench: Workbench,
  form: OpenForm,
  { form: faulty, others }: Extract<ReturnType<Form['arguments']>, { ok: false }>,
  validates: boolean,
): Promise<void> {
  workbench.changeForm(form.id, () => faulty);
  if (!validates || others === null) return;
  const faults = await workbench.controls.check(draftOf(form, others));
  workbench.changeForm(form.id, now => (now === faulty ? now.withOtherFaults(faults) : now));
}

function draftOf({ server, operation }: OpenForm, args: Draft['arguments']): Draft {
  return { server, operation, arguments: args };
}

function isRedacted(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}

/** Sends a draft; asks first if it needs consent. */
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
  const decline = () => void declined(workbench, sending);
  const prompt = [
    `${nameOf(operation)} is marked destructive. Call it?`,
    `At ${nameOf(about)}, with ${cut(safeJson(args), LONGEST.arguments)}`,
  ];
  workbench.show({
    kind: 'question',
    picker: openPicker({ prompt: prompt.join('\n'), choices: ['Call it', 'Do not call it'], default: 1 }),
    onPick: selected => (selected === 0 ? void send(workbench, sending, true) : decline()),
    onEscape: decline,
    escapeHint: 'do not call it',
  });
}

async function declined(workbench: Workbench, { draft, from }: Sending): Promise<void> {
  const { text, isBad } = await workbench.controls.decline(draft);
  const again = isRerun(from) ? 'r' : 'Ctrl-R';
  workbench.say({ text: `${nameOf(draft.operation)}: ${text}. ${again}, then 0, calls it.`, isBad });
}

function isRerun(from: Sending['from']): boolean {
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
  if (sent.kind === 'invalid')
    workbench.changeForm(from, form =>
      isHere ? form.withFaults(sent.faults) : form.with({ faults: sent.faults }),
    );
  if (sent.kind === 'sent' && isHere) showSent(workbench, sent.key);
  else if (sent.kind === 'sent')
    workbench.say({ text: `${draft.operation} was sent: see Calls.`, isBad: false });
  else workbench.complain(`${isHere ? '' : `${draft.operation}: `}${reasonOf(sent, from)}`);
}

function reasonOf(sent: Exclude<Sent, { kind: 'sent' }>, from: Sending['from']): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRerun(from) ? 'e edits them.' : 'Ctrl-T sends them as they are.';
  return `Not sent: the arguments do not match the inputSchema. ${next}`;
}

/** The form of an edited call starts anew next time. */
function showSent(workbench: Workbench, key: string): void {
  const { forms, calls } = workbench;
  if (forms.current && forms.current.about !== null) forms.current = null;
  calls.set({ tab: 'result' });
  workbench.showCalls(0, key);
}

/** Sends the selected call again: to the same server, with the same arguments, validated or not, in a new thread. */
export function runAgain(workbench: Workbench): void {
  const call = selectedCall(workbench);
  if (!call) return;
  const { exchange, offer, doubt, name, validates } = call;
  const { operation, arguments: args } = exchange.invocation;
  if (workbench.isSending(name)) workbench.complain('Not run: it is being sent already.');
  else if (doubt !== null) workbench.complain(`Not run: ${doubt} e opens its form at ${offer.server.about}.`);
  else if (call.isRedacted)
    workbench.complain(`Not run: ${REDACTED} replaces a secret. e edits the arguments.`);
  else
    place(workbench, {
      draft: { server: offer.server.id, operation, arguments: args },
      validates,
      from: name,
    });
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
  const owners = offers.filter(({ server }) =>
    volume.isLive ? server.id === id : endpointOf(server) === exchange.endpoint,
  );
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

function endpointOf({ state }: Server): string | null {
  return state.kind === 'ready' ? state.toolset.endpoint : null;
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
      if (said) workbench.say(said);
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
  workbench.say(await workbench.controls.cancel(exchange.key));
}
