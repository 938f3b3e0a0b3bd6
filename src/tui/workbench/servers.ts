import { pickerOf } from '../picker.js';
import type { ActionResult } from '../screen/effects.js';
import { openForm } from './forms.js';
import { definitionsText, type Server } from './model.js';
import { entryKey } from './tools.js';
import { complain, selectedTool, serverOfCall, type Workbench } from './workbench.js';

/** Opens the form of the selected operation; starts or reloads a server. */
export function enterEntry(workbench: Workbench): void {
  const entry = selectedTool(workbench);
  if (!entry) return;
  const { server, tool, definitions } = entry;
  if (tool && definitions === 1) openForm(workbench, { server, tool });
  else if (tool)
    complain(workbench, `${tool.name}: ${definitionsText(definitions)}. Press u to open one by its URL.`);
  else if (server.state.kind !== 'loading') workbench.controls.load(server.id);
}

export function removeServer(workbench: Workbench): void {
  const entry = selectedTool(workbench);
  if (!entry || entry.tool || entry.server.state.kind !== 'failed')
    return void complain(workbench, 'Only a server that could not be reached can be removed. Select one.');
  const { list } = workbench.tools();
  const { keys } = list.entries();
  const index = keys.indexOf(entry.key);
  const neighbour = keys[index + 1] ?? keys[index - 1];
  if (neighbour !== undefined) workbench.store.dispatch({ type: 'selectTool', key: neighbour });
  workbench.controls.remove(entry.server.id);
}

/** Restarts the server of the selected entry; reloads a server that was not started here. */
export function restartServer(workbench: Workbench): void {
  const entry = selectedTool(workbench);
  if (entry) restart(workbench, entry.server);
}

export function restartServerOfCall(workbench: Workbench): void {
  const server = serverOfCall(workbench);
  if (!server) return void complain(workbench, 'No call to an open tool server is selected.');
  restart(workbench, server);
  workbench.effects.say(`Restarting ${server.about} …`);
}

function restart({ controls }: Workbench, server: Server): void {
  if (server.output) controls.restart(server.id);
  else controls.load(server.id);
}

/** Says which servers were restarted since the last time. */
export function restartWatcher(workbench: Workbench): () => void {
  const shown = new Map<string, Server['restarted']>();
  return () => {
    for (const { id, about, restarted, state } of workbench.model.servers) {
      if (!restarted || shown.get(id) === restarted) continue;
      shown.set(id, restarted);
      const why = restarted.why === null ? '' : `: ${restarted.why}`;
      if (state.kind === 'failed') complain(workbench, `${about} did not restart: ${state.message}`);
      else workbench.effects.say(`${about} was restarted${why}.`, 'good');
    }
  };
}

/** Why nothing can be sent to the server of the selected call; null if it is ready, or unknown. */
export function unavailableText(workbench: Workbench): string | null {
  const server = serverOfCall(workbench);
  if (!server) return null;
  const { about, state, output } = server;
  if (state.kind === 'loading') return `${about} is starting`;
  if (state.kind !== 'failed') return null;
  const how = state.exited === undefined ? `: ${state.message}` : ` ${state.exited}`;
  return `${about}${how} · R ${output ? 'restarts' : 'reloads'} it`;
}

/** The URLs of servers that begin with a text. */
export function completeServer({ model: { servers, recent } }: Workbench, typed: string): readonly string[] {
  const urls = servers.map(({ about }) => about).filter(about => URL.canParse(about));
  return [...new Set(['demo', ...urls, ...recent])].filter(word => word.startsWith(typed)).sort();
}

export function askRecentServer(workbench: Workbench): void {
  const { recent: choices } = workbench.model;
  if (choices.length === 0) return void complain(workbench, 'No tool server was opened before.');
  workbench.effects.show({
    kind: 'question',
    purpose: { kind: 'openRecent' },
    picker: pickerOf({ prompt: 'Open which server?', choices: [...choices], default: 0 }),
    escapeHint: 'later',
  });
}

/** Returns why the server cannot be opened, if it cannot. */
export function openServer({ controls, store }: Workbench, target: string): ActionResult | null {
  const opened = controls.open(target);
  if ('isBad' in opened) return opened;
  store.dispatch({ type: 'selectTool', key: entryKey(opened.server) });
  store.dispatch({ type: 'go', page: 'tools' });
  return null;
}

export function openServerOrReport(workbench: Workbench, target: string): void {
  const said = openServer(workbench, target);
  if (said) workbench.effects.report(said);
}
