import { openPages } from '../../events/exchange.js';
import { quote, say } from '../../render/line.js';
import { pickerOf } from '../picker.js';
import { showCopied } from '../screen/copied.js';
import { openChoice } from './calls.js';
import { complain, selectedCall, selectedCallKey, type Workbench } from './workbench.js';

/** Shows a tool's question (of the selected call, else the oldest one) and selects its call. */
export function askAnswer(workbench: Workbench): void {
  const { model, store, effects } = workbench;
  const live = model.sources[0];
  const source = workbench.source();
  const selected = selectedCallKey(workbench);
  const open = live && openChoice(source.isLive ? selected : null, live.callLog);
  if (!open) return void complain(workbench, 'No tool is waiting for an answer.');
  const { key, leg, question } = open;
  const operation = live.callLog.history.exchanges.get(key)?.invocation.operation ?? '';
  const asker = [...quote(operation, 'title'), say(' asks in ', 'dim'), ...quote(question.id)];
  if (source !== live || selected !== key) store.dispatch({ type: 'showCalls', source: live.id, key });
  else store.dispatch({ type: 'selectCall', key });
  effects.show({
    kind: 'question',
    purpose: { kind: 'answer', call: key, leg },
    picker: pickerOf(question, asker),
    escapeHint: 'later',
  });
}

export async function cancelCall(workbench: Workbench): Promise<void> {
  const call = selectedCall(workbench);
  if (!call) return void complain(workbench, 'No call to cancel.');
  if (!workbench.source().isLive)
    return void complain(workbench, 'Calls in a transcript cannot be canceled.');
  workbench.effects.report(await workbench.controls.cancel(call.key));
}

export async function useConsentPage(workbench: Workbench, how: 'visit' | 'copy'): Promise<void> {
  const call = selectedCall(workbench);
  const [page] = call && workbench.source().isLive ? openPages(call) : [];
  if (!page) complain(workbench, 'The call is not waiting for consent.');
  else if (how === 'copy')
    showCopied(workbench.effects, page.auth_url, workbench.controls.copy(page.auth_url));
  else workbench.effects.report(await workbench.controls.visit(page.auth_url));
}

export function copyCall(workbench: Workbench, how: 'curl' | 'command'): void {
  const { controls } = workbench;
  const { id } = workbench.source();
  const key = selectedCallKey(workbench);
  if (key === null) return void complain(workbench, 'No call to copy.');
  const curl = controls.asCurl(key, id);
  const line = how === 'curl' ? curl : controls.asCommand(key, id);
  if (!line) complain(workbench, 'Nothing to copy: the call was not sent.');
  else if (!('isBad' in line)) showCopied(workbench.effects, line.text, controls.copy(line.text), line);
  else if (curl) complain(workbench, `${line.text}. Press y to copy it as curl.`);
  else workbench.effects.report(line);
}

/** Marks the selected call, or shows it beside the marked one. */
export function compareCall(workbench: Workbench): void {
  const { store, effects } = workbench;
  const exchange = selectedCall(workbench);
  const { marked } = store.state();
  if (!exchange) complain(workbench, 'No call to compare.');
  else if (marked && marked.exchange.key !== exchange.key)
    store.dispatch({ type: 'showTab', tab: 'compare' });
  else {
    store.dispatch({ type: 'mark', call: { exchange, redactor: workbench.source().redactor } });
    effects.say('Marked. Select another call and press = to compare them.', 'good');
  }
}
