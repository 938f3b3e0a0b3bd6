import type { ActionResult } from '../screen/effects.js';
import { askFor } from './ask.js';
import { fixtureName, TRANSCRIPT_NAME } from './model.js';
import type { PromptPurpose } from './state.js';
import { complain, selectedCall, type Workbench } from './workbench.js';

/** Opens a transcript and shows its calls, unless the user is typing somewhere else by then. */
export async function openTranscript(
  { model, controls, store }: Workbench,
  path: string,
): Promise<ActionResult> {
  const known = new Set(model.sources);
  const said = await controls.openTranscript(path);
  const source = model.sources.find(each => !known.has(each)); // reopening a file adds another source
  const { overlay, page } = store.state();
  if (source && !overlay && page !== 'form')
    store.dispatch({ type: 'showCalls', source: source.id, key: null });
  return said;
}

/** Shows the calls of the next open transcript. */
export function showNextSource({ model: { sources }, store, source }: Workbench): void {
  const next = sources[(sources.indexOf(source()) + 1) % sources.length];
  if (next) store.dispatch({ type: 'showCalls', source: next.id, key: null });
}

export function askSaveTranscript(workbench: Workbench): Promise<void> {
  return askPath(workbench, TRANSCRIPT_NAME, { kind: 'saveTranscript' });
}

export async function askSaveFixture(workbench: Workbench): Promise<void> {
  const call = selectedCall(workbench);
  if (!call) return void complain(workbench, 'No call to save.');
  if (!call.settled) return void complain(workbench, 'Cannot save a fixture: the call has no result.');
  const purpose = { kind: 'saveFixture', call: call.key, source: workbench.source().id } as const;
  await askPath(workbench, fixtureName(call.invocation.operation), purpose);
}

/** Suggests a free file name as soon as it is found, unless the user is already typing. */
async function askPath(workbench: Workbench, name: string, purpose: PromptPurpose): Promise<void> {
  const { controls, store } = workbench;
  askFor(workbench, purpose, name, true);
  const asked = store.state().overlay;
  const free = await controls.freeName(name);
  if (store.state().overlay === asked) askFor(workbench, purpose, free, true);
}
