import type { Tool } from '../../protocol/toolset.js';
import type { Press } from '../keys.js';
import { type FormState, formOf, withSchema } from './form/form.js';
import { pressForm, wantsRun } from './form/press.js';
import type { Server } from './model.js';
import { toolsOf } from './model.js';
import { currentForm } from './state.js';
import type { Workbench } from './workbench.js';

export interface ServerTool {
  readonly server: Server;
  readonly tool: Tool;
}

export function toolsNamed(servers: readonly Server[], operation: string): readonly ServerTool[] {
  return servers.flatMap(server => {
    const tool = toolsOf(server).find(({ name }) => name === operation);
    return tool ? [{ server, tool }] : [];
  });
}

interface FormInput {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** The call whose arguments are edited. */
  readonly about?: string | null;
  /** False: the form is filled in without being shown. */
  readonly isShown?: boolean;
}

/** Opens the form of an operation. A form that was filled in before keeps its values, though its schema may have changed. */
export function openForm(
  { store }: Workbench,
  { server, tool }: ServerTool,
  { given, about = null, isShown = true }: FormInput = {},
): void {
  const { name: operation, description, inputSchema } = tool;
  const name = JSON.stringify([server.id, operation, about]);
  const known = store.state().forms.find(each => each.name === name);
  const form = known
    ? withSchema(known.form, inputSchema)
    : formOf(inputSchema, given, about === null ? 'all' : 'none'); // a call that is edited keeps its arguments
  store.dispatch({
    type: 'openForm',
    form: { name, server: server.id, operation, about, description, form },
    isShown,
  });
}

/** A key in the current form that is in no key table. @param run starts the call */
export function pressInForm(workbench: Workbench, press: Press, run: () => void): void {
  const { store } = workbench;
  const open = currentForm(store.state());
  if (!open) return;
  const after = pressForm(open.form, press);
  if (after.faults.length < open.form.faults.length) store.dispatch({ type: 'forgetKey' });
  if (wantsRun(open.form, press)) run();
  else store.dispatch({ type: 'changeForm', name: open.name, form: after });
}

/** Changes a form that may have been closed. */
export function changeForm({ store }: Workbench, name: string, change: (form: FormState) => FormState): void {
  const open = store.state().forms.find(each => each.name === name);
  if (open) store.dispatch({ type: 'changeForm', name, form: change(open.form) });
}
