import type { SchemaFault } from '../json-schema/schema-faults.js';
import { checkValue, remarksOn } from '../json-schema/validator.js';
import type { Warning } from '../protocol/requirements.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { didYouMean, excerpt, joinFirst } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { visibleLine } from '../util/visible.js';

const MAX_NAMES = 60;

/**
 * Returns the tool that an operation names (RT-OP).
 * @throws ProtocolCliError `unknown-operation`, with the nearest names and the available ones.
 */
export function toolOf({ name, tools }: Pick<Toolset, 'name' | 'tools'>, operation: string): Tool {
  const found = tools.find(tool => tool.name === operation);
  if (found) return found;
  const names = tools.map(tool => tool.name);
  const hints = [didYouMean(operation, names), `Available: ${joinFirst(names, MAX_NAMES)}.`];
  throw new ProtocolCliError(
    'unknown-operation',
    `no operation "${operation}" in the toolset ${visibleLine(name)}`,
    { hint: names.length === 0 ? 'It has none at all.' : hints.filter(Boolean).join(' ') },
  );
}

/**
 * Validates arguments against the operation's `inputSchema` (RT-ARGS). Errors prevent the call, warnings do not. A mismatched `format`
 * and an unusable schema are warnings.
 */
export async function judgeArguments(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: unknown,
): Promise<{ readonly faults: readonly SchemaFault[]; readonly warnings: readonly Warning[] }> {
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
 * @param shown where the user finds the accepted arguments
 * @throws ProtocolCliError `invalid-arguments`, with path and rule of every error.
 */
export async function checkArguments(
  tool: Tool,
  args: unknown,
  shown = `\`protocol-cli toolset <url> ${tool.name}\` shows what it takes; \`invoke -i <url>\` has a form. `,
): Promise<Warning[]> {
  const { faults, warnings } = await judgeArguments(tool, args);
  if (faults.length === 0) return [...warnings];
  throw new ProtocolCliError(
    'invalid-arguments',
    `the arguments do not match the inputSchema of ${tool.name}`,
    {
      faults: faults.map(({ path, message }) => visibleLine(`${path}: ${message}`)),
      hint: `${offerFor(tool, args)}${shown}--no-validate sends them as they are.`,
    },
  );
}

/** For a misspelled argument, the nearest name of an argument that is not given. */
function offerFor({ inputSchema: { properties } }: Tool, args: unknown): string {
  if (!isRecord(args) || !isRecord(properties)) return '';
  const missing = Object.keys(properties).filter(name => !Object.hasOwn(args, name));
  for (const name of Object.keys(args)) {
    const offer = Object.hasOwn(properties, name) ? '' : didYouMean(name, missing);
    if (offer !== '') return visibleLine(`Unexpected argument ${excerpt(name)}. ${offer} `);
  }
  return '';
}
