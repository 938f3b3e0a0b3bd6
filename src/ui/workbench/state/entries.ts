import type { Tool } from '../../../protocol/toolset.js';
import { rivalsOf } from '../rivals.js';
import { definitionsIn, type Server } from '../world.js';
import type { State } from './state.js';

/** A row of the list of tools: a server, or one of its operations. */
export type Entry =
  | { readonly id: string; readonly kind: 'server'; readonly server: Server }
  | {
      readonly id: string;
      readonly kind: 'operation';
      readonly server: Server;
      readonly tool: Tool;
      /** How many configured toolsets define it: of several none is used (RT-TOOLSET). */
      readonly rivals: number;
    };

/** Each server, and below it what it offers. */
export function entriesOf(servers: readonly Server[]): readonly Entry[] {
  const definitions = definitionsIn(servers);
  return servers.flatMap(server => [
    { id: serverEntryId(server.id), kind: 'server' as const, server },
    ...toolsOf(server).map(tool => ({
      id: operationEntryId(server.id, tool.name),
      kind: 'operation' as const,
      server,
      tool,
      rivals: rivalsOf(server, tool.name, definitions),
    })),
  ]);
}

/** @param server its id */
export function serverEntryId(server: string): string {
  return JSON.stringify([server]);
}

export function operationEntryId(server: string, operation: string): string {
  return JSON.stringify([server, operation]);
}

function toolsOf({ state }: Server): readonly Tool[] {
  return state.kind === 'ready' ? state.toolset.tools : [];
}

/** Where the selected entry stands: the first operation where none is selected, or the selected one is gone. */
export function entryIndex(entries: readonly Entry[], selected: string | null): number {
  const index = entries.findIndex(({ id }) => id === selected);
  if (index >= 0) return index;
  return Math.max(
    0,
    entries.findIndex(({ kind }) => kind === 'operation'),
  );
}

export function selectedEntry(
  { tools }: Pick<State, 'tools'>,
  servers: readonly Server[],
): Entry | undefined {
  const entries = entriesOf(servers);
  return entries[entryIndex(entries, tools.selected)];
}
