import { isSubscribed } from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { Log } from '../events/log.js';
import type { SchemaFault } from '../json-schema/validate.js';
import { checkValue, remarksOn } from '../json-schema/validator.js';
import type { Warning } from '../protocol/requirements.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { firstFew } from '../util/json-layout.js';
import { didYouMean } from '../util/nearest.js';
import { visibleLine } from '../util/visible.js';

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
          : [didYouMean(operation, names), `There are: ${firstFew(names, MOST_NAMES)}.`]
              .filter(Boolean)
              .join(' '),
    },
  );
}

/** How many of a toolset's names a message lists. */
const MOST_NAMES = 60;

/** What is wrong with arguments, so that they must not be sent; and what is only to be said of them. */
export interface ArgumentsCheck {
  readonly faults: readonly SchemaFault[];
  readonly warnings: readonly Warning[];
}

/** Judges arguments by the operation's `inputSchema` (RT-ARGS). A schema that cannot be used is a warning, not a wall; so is a `format`. */
export async function judgeArguments(tool: Tool, args: unknown): Promise<ArgumentsCheck> {
  const check = await checkValue(tool.inputSchema, args);
  if (check.kind === 'invalid') return { faults: check.faults, warnings: [] };
  if (check.kind === 'unusable') return { faults: [], warnings: [unchecked(tool, check.reason)] };
  const remarks = await remarksOn(tool.inputSchema, args);
  return { faults: [], warnings: remarks.map(remark => ({ message: `the argument ${worded(remark)}` })) };
}

function worded({ path, message }: SchemaFault): string {
  return visibleLine(`${path} ${message}`);
}

/**
 * The warnings of {@link judgeArguments}, where nothing is wrong.
 * @param shown where a person sees what the tool takes
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

/** That an `inputSchema` cannot be used, and why. */
function unchecked({ name }: Tool, reason: string): Warning {
  const why = `the inputSchema of ${name} cannot be used: ${visibleLine(reason)}`;
  return { id: 'RT-ARGS', message: `the arguments were not checked: ${why}` };
}

/** Resolves once no more events can count: after the last one, or where the subscription was cancelled or its thread closed. */
export function subscriptionEnd(log: Log, history: History, key: string): Promise<void> {
  const isOver = () => {
    const exchange = history.exchanges.get(key);
    return !exchange || !isSubscribed(exchange);
  };
  if (isOver()) return Promise.resolve();
  return new Promise(resolve => {
    const unsubscribe = log.subscribe(() => {
      if (!isOver()) return;
      unsubscribe();
      resolve();
    });
  });
}
