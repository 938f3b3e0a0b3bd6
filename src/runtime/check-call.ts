import type { SchemaFault } from '../json-schema/faults.js';
import { checkValue, remarksOn } from '../json-schema/validator.js';
import type { Warning } from '../protocol/requirements.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { didYouMean, firstFew } from '../util/text.js';
import { visibleLine } from '../util/visible.js';

/** How many names of a toolset a message lists. */
const MOST_NAMES = 60;

/**
 * The tool that an operation names (RT-OP).
 * @throws ProtocolCliError `unknown-operation`, with the nearest names and the available ones.
 */
export function toolOf({ name, tools }: Pick<Toolset, 'name' | 'tools'>, operation: string): Tool {
  const found = tools.find(tool => tool.name === operation);
  if (found) return found;
  const names = tools.map(tool => tool.name);
  const hints = [didYouMean(operation, names), `There are: ${firstFew(names, MOST_NAMES)}.`];
  throw new ProtocolCliError(
    'unknown-operation',
    `no operation "${operation}" in the toolset ${visibleLine(name)}`,
    { hint: names.length === 0 ? 'It has none at all.' : hints.filter(Boolean).join(' ') },
  );
}

/** Faults forbid sending the arguments; warnings do not. */
export interface ArgumentsCheck {
  readonly faults: readonly SchemaFault[];
  readonly warnings: readonly Warning[];
}

/** Checks arguments against the operation's `inputSchema` (RT-ARGS). An unusable schema, like a wrong `format`, is a warning. */
export async function judgeArguments(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: unknown,
): Promise<ArgumentsCheck> {
  const check = await checkValue(inputSchema, args);
  if (check.kind === 'invalid') return { faults: check.faults, warnings: [] };
  if (check.kind === 'unusable') {
    const why = `the inputSchema of ${name} cannot be used: ${visibleLine(check.reason)}`;
    return { faults: [], warnings: [{ id: 'RT-ARGS', message: `the arguments were not checked: ${why}` }] };
  }
  const remarks = await remarksOn(inputSchema, args);
  const warnings = remarks.map(({ path, message }) => ({
    message: visibleLine(`the argument ${path} ${message}`),
  }));
  return { faults: [], warnings };
}

/**
 * Returns the warnings of {@link judgeArguments}.
 * @param shown says where a person sees what the tool takes
 * @throws ProtocolCliError `invalid-arguments`, with path and rule of every fault.
 */
export async function checkArguments(
  tool: Tool,
  args: unknown,
  shown = `\`protocol-cli toolset <url>\` shows what ${tool.name} takes; `,
): Promise<Warning[]> {
  const { faults, warnings } = await judgeArguments(tool, args);
  if (faults.length === 0) return [...warnings];
  throw new ProtocolCliError(
    'invalid-arguments',
    `the arguments do not match the inputSchema of ${tool.name}`,
    {
      faults: faults.map(({ path, message }) => visibleLine(`${path}: ${message}`)),
      hint: `${shown}--no-validate sends them as they are.`,
    },
  );
}
