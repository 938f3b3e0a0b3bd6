import { REDACTED } from '../../util/redact.js';
import { safeJson } from '../../util/safe-json.js';
import { truncate } from '../../util/text.js';
import { pickerOf } from '../picker.js';
import { formArguments, withFaults } from './form/form.js';
import { changeForm } from './forms.js';
import type { Sent } from './model.js';
import { currentForm, type Sending } from './state.js';
import { complain, type Workbench, watchPlace } from './workbench.js';

/** Maximum length of the texts shown, in characters; the screen counts the rows that do not fit. */
const MAX_LENGTH = { name: 200, arguments: 4_000 };

/** Sends the current form; shows invalid arguments at their fields. @param validates against the `inputSchema` */
export function runForm(workbench: Workbench, validates = true): void {
  const { store } = workbench;
  const open = currentForm(store.state());
  if (!open || isSending(workbench, open.name)) return;
  store.dispatch({ type: 'forgetKey' });
  const args = formArguments(open.form, validates);
  if (!args.ok) {
    store.dispatch({ type: 'changeForm', name: open.name, form: args.form });
  } else if (validates && isRedacted(args.value)) {
    complain(workbench, `Not sent: ${REDACTED} replaces a secret. Press Ctrl-T to send it as it is.`);
  } else {
    const { server, operation, name: from } = open;
    const draft = { server, operation, arguments: args.value };
    sendOrAsk(workbench, { draft, validates, from, isRerun: false });
  }
}

export function isSending({ store }: Workbench, from: string): boolean {
  return store.state().sending.some(each => each.from === from);
}

/** Sends a draft; a destructive one only after the user agreed. */
export function sendOrAsk(workbench: Workbench, sending: Sending): void {
  const { server, operation } = sending.draft;
  if (workbench.controls.needsConsent(server, operation)) askConsent(workbench, sending);
  else void send(workbench, sending);
}

/** Asks whether to call a destructive operation. The default is not to. */
function askConsent({ model, effects }: Workbench, sending: Sending): void {
  const { server, operation, arguments: args } = sending.draft;
  const about = model.servers.find(({ id }) => id === server)?.about ?? '';
  const prompt = [
    `${nameOf(operation)} is marked destructive. Call it?`,
    `At ${nameOf(about)}, with ${truncate(safeJson(args), MAX_LENGTH.arguments)}`,
  ];
  effects.show({
    kind: 'question',
    purpose: { kind: 'consent', sending },
    picker: pickerOf({ prompt: prompt.join('\n'), choices: ['Call it', 'Do not call it'], default: 1 }),
    escapeHint: 'do not call it',
  });
}

/** Sends a destructive call if the user agreed, or records that the user did not. */
export async function decideConsent(
  workbench: Workbench,
  sending: Sending,
  isAgreed: boolean,
): Promise<void> {
  if (isAgreed) return send(workbench, sending, true);
  const { text, isBad } = await workbench.controls.decline(sending.draft);
  const again = sending.isRerun ? 'r' : 'Ctrl-R';
  const name = nameOf(sending.draft.operation);
  workbench.effects.report({ text: `${name}: ${text}. Press ${again}, then 0, to call it.`, isBad });
}

/** Sends a draft, then shows its call, or the faults in its form. If the user has moved on, only shows a notice. */
async function send(workbench: Workbench, sending: Sending, isAgreed = false): Promise<void> {
  const { store, controls, effects } = workbench;
  const { draft, validates, from } = sending;
  store.dispatch({ type: 'sendingBegan', sending });
  const isStillHere = watchPlace(workbench);
  const sent = await controls.run(draft, { validates, isAgreed });
  const isHere = isStillHere();
  store.dispatch({ type: 'sendingEnded', sending });
  if (sent.kind === 'invalid') changeForm(workbench, from, form => withFaults(form, sent.faults, isHere));
  if (sent.kind !== 'sent')
    complain(workbench, `${isHere ? '' : `${draft.operation}: `}${reasonOf(sent, sending)}`);
  else if (isHere) showSent(workbench, sent.key);
  else effects.say(`${draft.operation} was sent: see Calls.`, 'good');
}

/** Resets the form of an edited call after sending. */
function showSent({ store }: Workbench, key: string): void {
  const open = currentForm(store.state());
  if (open && open.about !== null) store.dispatch({ type: 'forgetForm', name: open.name });
  store.dispatch({ type: 'showTab', tab: 'result' });
  store.dispatch({ type: 'showCalls', source: 0, key });
}

/** Transcripts do not contain the secrets that were sent. */
export function isRedacted(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}

/** An untrusted name must not look like a line of the program. */
function nameOf(text: string): string {
  return truncate(text, MAX_LENGTH.name).replaceAll('\n', '␊');
}

function reasonOf(sent: Exclude<Sent, { kind: 'sent' }>, { isRerun }: Sending): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRerun ? 'Press e to edit them.' : 'Press Ctrl-T to send them as they are.';
  return `Not sent: the arguments do not match the inputSchema. ${next}`;
}
