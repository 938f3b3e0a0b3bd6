import type { Tool } from '../../../protocol/toolset.js';
import { firstLineOf } from '../first-line.js';
import { formOf, reformed } from '../form/index.js';
import type { Filling } from '../state/state.js';
import type { Server } from '../world.js';
import type { House } from './house.js';

/** Opens the form of an operation; one that is filled in already stays as it was left, and what it sent stays on its way. */
export function openForm(
  { state, change }: Pick<House, 'state' | 'change'>,
  server: Server,
  tool: Tool,
  initial?: Readonly<Record<string, unknown>>,
): void {
  const { filling } = state;
  const isSame = filling?.server === server.id && filling.operation === tool.name;
  const isKept = isSame && initial === undefined;
  change({ page: 'form', filling: isKept ? kept(filling, tool) : fresh(server, tool, initial) });
}

function fresh(
  server: Server,
  { name, description, inputSchema }: Tool,
  initial: Readonly<Record<string, unknown>> | undefined,
): Filling {
  return {
    id: Symbol(name),
    server: server.id,
    operation: name,
    description: firstLineOf(description),
    form: formOf(inputSchema, initial),
  };
}

/** Its server may have been asked once more since. */
function kept(filling: Filling, { description, inputSchema }: Tool): Filling {
  return {
    ...filling,
    description: firstLineOf(description),
    form: reformed(filling.form, inputSchema),
  };
}
