import { ProtocolCliError } from '../errors.js';
import { checkValue } from '../json-schema/check-value.js';
import type { Warning } from '../protocol/requirements.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { didYouMean } from '../text/nearest.js';
import { visibleLine } from '../text/visible.js';

/**
 * The tool that an operation names (RT-OP).
 * @throws ProtocolCliError `unknown-operation`, with the nearest names and all there are.
 */
export function toolOf(toolset: Toolset, operation: string): Tool {
  const found = toolset.tools.find(tool => tool.name === operation);
  if (found) return found;
  const names = toolset.tools.map(tool => tool.name);
  throw new ProtocolCliError(
    'unknown-operation',
    `no operation "${operation}" in the toolset ${visibleLine(toolset.name)}`,
    {
      hint:
        names.length === 0
          ? 'It has none at all.'
          : [didYouMean(operation, names), `There are: ${listed(names)}.`].filter(Boolean).join(' '),
    },
  );
}

/** How many of a toolset's names a message lists. */
const MOST_NAMES = 60;

function listed(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/**
 * Checks arguments against the operation's `inputSchema` (RT-ARGS). A schema that cannot be used is a warning, not a wall.
 * @param shown where a person sees what the tool takes
 * @throws ProtocolCliError `invalid-arguments`, with path and rule of every fault.
 */
export async function checkArguments(
  tool: Tool,
  args: unknown,
  shown = `\`protocol-cli toolset <url>\` shows what ${tool.name} takes; `,
): Promise<Warning[]> {
  const check = await checkValue(tool.inputSchema, args);
  if (check.kind === 'valid') return [];
  if (check.kind === 'unusable') return [unchecked(tool, check.reason)];
  throw new ProtocolCliError('invalid-arguments', `the arguments break the inputSchema of ${tool.name}`, {
    faults: check.faults.map(({ path, message }) => visibleLine(`${path}: ${message}`)),
    hint: `${shown}--no-validate sends them as they are.`,
  });
}

/** That an `inputSchema` cannot be used, and why. */
export function unchecked({ name }: Tool, reason: string): Warning {
  const why = `the inputSchema of ${name} cannot be used: ${visibleLine(reason)}`;
  return { id: 'RT-ARGS', message: `the arguments were not checked: ${why}` };
}
