import type { Tool } from '../../../protocol/toolset.js';
import { openPicker } from '../../live/picker.js';
import type { Draft } from '../controls.js';
import { firstLineOf } from '../first-line.js';
import { argumentsOf, formOf, withFaults } from '../form/index.js';
import type { Filling, State } from '../state/state.js';
import type { Server } from '../world.js';
import { bad, type House } from './house.js';

/** Opens the form of an operation; one that is filled in already stays as it was left. */
export function openForm(
  { state, change }: Pick<House, 'state' | 'change'>,
  server: Server,
  { name, inputSchema, description }: Tool,
  initial?: Readonly<Record<string, unknown>>,
): void {
  const { filling } = state;
  const isSame = filling?.server === server.id && filling.operation === name;
  const form = isSame && initial === undefined ? filling.form : formOf(inputSchema, initial);
  change({
    page: 'form',
    filling: {
      server: server.id,
      operation: name,
      description: firstLineOf(description),
      form,
      isSending: false,
    },
  });
}

/**
 * The arguments of the form, sent; what is wrong with them is shown at the fields. A destructive call is asked about first.
 * @param validates against the `inputSchema`; else they are sent as they are
 */
export function runForm(house: House, validates = true): void {
  const { state, change } = house;
  const { filling } = state;
  if (!filling || filling.isSending) return;
  const args = argumentsOf(filling.form);
  const { server, operation } = filling;
  if (args.ok) runDraft(house, { server, operation, arguments: args.value }, validates);
  else change({ filling: { ...filling, form: args.form } });
}

/** The selected call once more, with the same arguments, in a thread of its own. */
export function runAgain(house: House): void {
  const draft = draftOf(house);
  if (draft) runDraft(house, draft);
}

/** The selected call's arguments in the form of its operation. */
export function editAgain(house: House): void {
  const draft = draftOf(house);
  const offer = draft && offerOf(house, draft);
  if (offer) openForm(house, offer.server, offer.tool, draft.arguments);
}

function runDraft(house: House, draft: Draft, validates = true): void {
  if (!offerOf(house, draft)) return;
  if (house.controls.needsConsent(draft.server, draft.operation))
    house.change({ overlay: { kind: 'consent', draft, validates, picker: openPicker(consent(draft)) } });
  else void send(house, draft, validates);
}

function consent({ operation }: Draft) {
  return {
    prompt: `${operation} is marked destructive. Call it?`,
    choices: ['Call it', 'Do not call it'],
    default: 1,
  };
}

/** Sends a draft, and shows its call; or the form with what is wrong. */
export async function send(house: House, draft: Draft, validates: boolean): Promise<void> {
  const isOfForm = () => house.state.page === 'form' && house.state.filling?.operation === draft.operation;
  withFilling(house, filling => ({ ...filling, isSending: true }));
  const sent = await house.controls.run(draft, { validates });
  withFilling(house, filling => ({ ...filling, isSending: false }));
  switch (sent.kind) {
    case 'sent':
      return house.change({ page: 'calls', calls: shown(house.state, sent.key) });
    case 'refused':
      return house.say(bad(sent.reason));
    case 'invalid':
      if (!isOfForm()) editDraft(house, draft);
      withFilling(house, filling => ({ ...filling, form: withFaults(filling.form, sent.faults) }));
      return house.say(bad(`Not sent: the arguments break the inputSchema. Ctrl-T sends them as they are.`));
  }
}

function editDraft(house: House, draft: Draft): void {
  const offer = offerOf(house, draft);
  if (offer) openForm(house, offer.server, offer.tool, draft.arguments);
}

function shown({ calls }: State, key: string): State['calls'] {
  return { ...calls, volume: 0, selected: key, focus: 'list', tab: 'result' };
}

function withFilling({ state, change }: House, step: (filling: Filling) => Filling): void {
  if (state.filling) change({ filling: step(state.filling) });
}

function draftOf({ looking, world, say: tell }: House): Draft | null {
  const { exchange } = looking;
  if (!exchange) {
    tell(bad('There is no call to run again.'));
    return null;
  }
  const { operation, arguments: args } = exchange.invocation;
  const offering = world.servers.filter(server => offers(server, operation));
  const server = offering.find(each => endpointOf(each) === exchange.endpoint) ?? offering[0];
  if (!server) tell(bad(`No tool server that is open offers ${operation}: u opens one.`));
  return server ? { server: server.id, operation, arguments: args } : null;
}

function endpointOf({ state }: Server): string | null {
  return state.kind === 'ready' ? state.toolset.endpoint : null;
}

function offers({ state }: Server, operation: string): boolean {
  return state.kind === 'ready' && state.toolset.tools.some(({ name }) => name === operation);
}

function offerOf({ world, say: tell }: House, { server: id, operation }: Draft) {
  const server = world.servers.find(each => each.id === id);
  const tool =
    server?.state.kind === 'ready'
      ? server.state.toolset.tools.find(({ name }) => name === operation)
      : undefined;
  if (server && tool) return { server, tool };
  tell(bad(`${operation} is not offered any more.`));
  return null;
}
