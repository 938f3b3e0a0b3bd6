import { setImmediate } from 'node:timers/promises';
import type { Caller, Case } from '../../fixtures/check-files.js';
import { ArgumentMaker } from '../../json-schema/example.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { didYouMean, joinFirst } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';

/** An operation that may be called, and valid arguments for it. */
export interface Callable {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of the case that has the arguments. */
  readonly caller: Caller | undefined;
  /** Whether it may be called repeatedly: it is marked readOnly, or named with --operation. */
  readonly isHarmless: boolean;
}

/** The operations that the user allows the check to call: selected by name, or used by a case. */
export interface Permission {
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** Whether selected operations may be marked destructive; default: true. */
  readonly mayBeDestructive?: boolean | undefined;
}

/** Maximum number of operations that a message names. */
export const MAX_NAMED = 3;

/**
 * The operations that may be called: the selected ones, those with a case, and those marked as harmless. No check calls any other
 * operation, so no data is deleted.
 * @throws ProtocolCliError `unknown-operation`; for a case with its place. `decision-needed` for a destructive one, unless it is allowed
 */
export async function callablesOf(
  toolset: Toolset,
  permission: Permission,
): Promise<{ readonly callables: readonly Callable[]; readonly warnings: readonly string[] }> {
  refuseUnknown(toolset, permission);
  refuseDestructive(toolset, permission);
  const { operations, cases } = permission;
  const isOver = deadlineIn(LIMITS.examplesMs.value);
  const callables: Callable[] = [];
  const warnings: string[] = [];
  const allowed = toolset.tools
    .map(tool => ({
      tool,
      isHarmless: isMarkedHarmless(tool) || operations.includes(tool.name),
      written: cases.find(({ operation }) => operation === tool.name),
    }))
    .filter(({ isHarmless, written }) => isHarmless || written);
  if (!allowed.some(({ isHarmless }) => isHarmless)) warnings.push(onlySingleCalls(allowed.length > 0));
  for (const { tool, isHarmless, written } of allowed) {
    await setImmediate(); // signals are handled between two schemas
    const found = isOver()
      ? `${tool.name} is not called: the schemas of the others took too long`
      : await argumentsFor(tool, written);
    if (typeof found === 'string') warnings.push(visibleLine(found));
    else callables.push({ tool, arguments: found, caller: written?.caller, isHarmless });
  }
  return { callables, warnings };
}

function onlySingleCalls(hasCases: boolean): string {
  const what = hasCases
    ? 'only the cases are called, once each, so most rules could not run'
    : 'no operation is called';
  const others = hasCases ? '' : ', or --cases <file> for single calls';
  return `${what}: no operation is marked readOnly without requiresAuth or longRunning; add --operation <name> for one that may be called repeatedly${others}`;
}

async function argumentsFor(tool: Tool, written: Case | undefined): Promise<Callable['arguments'] | string> {
  if (written) return written.arguments;
  const example = (await argumentMaker(tool)).valid();
  if (example.ok) return example.arguments;
  return `${tool.name} is not called: no valid arguments could be made from its inputSchema (${example.reason}); write a case`;
}

function isMarkedHarmless({ annotations: { readOnly, destructive, requiresAuth, longRunning } = {} }: Tool) {
  return readOnly === true && !destructive && !longRunning && requiresAuth === undefined;
}

/** Rejects unknown names: calling a misspelt operation would return an error, which a case may even expect. */
function refuseUnknown(toolset: Toolset, { operations, cases }: Permission): void {
  for (const operation of operations) toolOf(toolset, operation);
  const names = toolset.tools.map(({ name }) => name);
  const faults = cases
    .filter(({ operation }) => !names.includes(operation))
    .map(({ place, operation }) => `${place}: no operation "${operation}". ${didYouMean(operation, names)}`);
  if (faults.length === 0) return;
  const message = `the toolset ${visibleLine(toolset.name)} does not have all operations of the cases`;
  throw new ProtocolCliError('unknown-operation', message, {
    faults: faults.map(fault => visibleLine(fault.trim())),
    hint: 'Correct the operations of these cases; `protocol-cli toolset <url>` lists the operations.',
  });
}

function refuseDestructive({ tools }: Toolset, { operations, cases, mayBeDestructive }: Permission): void {
  const selected = new Set([...operations, ...cases.map(({ operation }) => operation)]);
  const refused = tools.filter(({ name, annotations }) => selected.has(name) && annotations?.destructive);
  if (mayBeDestructive !== false || refused.length === 0) return;
  const names = refused.map(({ name }) => name);
  throw new ProtocolCliError('decision-needed', destructiveText(names));
}

/** `deploy is marked destructive, so it was not called` */
function destructiveText(names: readonly string[]): string {
  const [verb, what] = names.length === 1 ? ['is', 'it was'] : ['are', 'they were'];
  return `${visibleLine(joinFirst(names, MAX_NAMED))} ${verb} marked destructive, so ${what} not called`;
}

/** Makes arguments for an operation, within a time limit: a foreign schema may be costly on purpose (threats, row 22). */
export function argumentMaker({ inputSchema }: Tool): Promise<ArgumentMaker> {
  return ArgumentMaker.for(inputSchema, deadlineIn(LIMITS.exampleMs.value));
}

/** Returns a function that tells whether the time is over. */
function deadlineIn(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}
