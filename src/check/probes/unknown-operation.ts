import type { Toolset } from '../../protocol/toolset.js';
import type { ProbeCall, ProbeClient } from './prober.js';
import type { SampleCalls } from './samples.js';

interface Target {
  readonly toolset: Toolset | null;
  readonly samples: SampleCalls;
}

/** Names beside one that could be an operation; every object of JavaScript has members of the first two. */
const ODD_NAMES: readonly string[] = ['constructor', '__proto__', '../../etc/passwd'];

/** Maximum number of operations whose arguments are sent with other names. */
const MAX_RENAMED = 3;

/** Calls of operations that the toolset does not have. A tool that executes any name may only complain about missing arguments. */
export const unknownOperation = {
  id: 'unknown-operation',
  checks: ['TOOL-UNKNOWN-OP', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  async run(client: ProbeClient, { toolset, samples }: Target): Promise<void> {
    if (!toolset) return;
    const names = [unknownName(toolset), ...ODD_NAMES];
    const calls = names.map(operation => ({ operation, arguments: {} }));
    void samples.finished; // a valid result proves that a call was executed
    await Promise.all([...calls, ...renamedCalls(toolset, samples)].map(call => client.call(call)));
  },
} as const;

/** Calls with valid arguments under another name, and under the name in other letters. */
function renamedCalls(toolset: Toolset, { harmless }: SampleCalls): readonly ProbeCall[] {
  const isUnknown = (name: string) => toolset.tools.every(tool => tool.name !== name);
  return harmless.slice(0, MAX_RENAMED).flatMap(({ tool: { name }, arguments: args, caller }) => {
    const inOtherCase = [name.toUpperCase(), name.toLowerCase()].filter(isUnknown).slice(0, 1);
    return [unknownName(toolset), ...inOtherCase].map(operation => ({ operation, arguments: args, caller }));
  });
}

/** A name that could be an operation, and is not in the toolset. */
export function unknownName({ tools }: Toolset): string {
  let name = 'no_such_operation';
  while (tools.some(tool => tool.name === name)) name += '_';
  return name;
}
