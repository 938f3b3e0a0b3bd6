import type { Toolset } from '../../protocol/toolset.js';
import type { Probe } from '../probe.js';

/** An operation that there is not. */
export const unknownOperation: Probe = {
  id: 'unknown-operation',
  checks: ['TOOL-UNKNOWN-OP', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  run: async (prober, { toolset }) => {
    if (!toolset) return;
    const names = [unknownTo(toolset), '__proto__', '../../etc/passwd'];
    await Promise.all(names.map(operation => prober.call({ operation, arguments: {} })));
  },
};

/** A name of which a toolset has none, near to what people call theirs. */
export function unknownTo({ tools }: Toolset): string {
  let name = 'no_such_operation';
  while (tools.some(tool => tool.name === name)) name += '_';
  return name;
}
