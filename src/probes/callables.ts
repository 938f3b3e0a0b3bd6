import { setImmediate } from 'node:timers/promises';
import { ProtocolCliError } from '../errors.js';
import type { Case } from '../fixtures/cases/case.js';
import { exampleArguments } from '../json-schema/example/example-arguments.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { toolOf } from '../runtime/check-call.js';
import { didYouMean } from '../text/nearest.js';
import { visibleLine } from '../text/visible.js';

/** An operation that may be called, and valid arguments for it. */
export interface Callable {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether it may be called again and again: it only reads, or somebody has named it. */
  readonly isHarmless: boolean;
}

export interface Callables {
  readonly callables: readonly Callable[];
  /** Why something is not called, and what helps. */
  readonly warnings: readonly string[];
}

/** What may be called, by name and by case. */
export interface Permission {
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
}

/**
 * The operations that may be called: named by hand, written down as a case, or marked as harmless. Nothing else ever is: a check deletes
 * nobody's data.
 * @throws ProtocolCliError `unknown-operation` for a name that is none, of a case with its place.
 */
export async function callablesOf(toolset: Toolset, permission: Permission): Promise<Callables> {
  refuseUnknown(toolset, permission);
  const allowed = toolset.tools.filter(tool => mayBeCalled(tool, permission));
  const found = await inTurn(allowed, tool => callableOf(tool, permission));
  return {
    callables: found.filter(each => typeof each !== 'string'),
    warnings: [...gapsOf(allowed, permission), ...found.filter(each => typeof each === 'string')],
  };
}

/** For the example arguments of all operations together, in ms: a foreign schema may be made to be costly (threats, row 22). */
const MOST_MS = 5_000;

/** For the example arguments, or the broken ones, of one operation. */
export const SCHEMA_MS = 1_000;

export function overAfter(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}

/** One operation after another, so that a signal is handled in between. */
async function inTurn(
  tools: readonly Tool[],
  work: (tool: Tool) => Promise<Callable | string>,
): Promise<readonly (Callable | string)[]> {
  const isOver = overAfter(MOST_MS);
  const done: (Callable | string)[] = [];
  for (const tool of tools) {
    await setImmediate();
    done.push(
      isOver()
        ? visibleLine(`${tool.name} is not called: the schemas of the others took too long`)
        : await work(tool),
    );
  }
  return done;
}

/** A misspelt name would end in an error result, which a case may even expect. */
function refuseUnknown(toolset: Toolset, { operations, cases }: Permission): void {
  for (const operation of operations) toolOf(toolset, operation);
  const names = toolset.tools.map(({ name }) => name);
  const faults = cases
    .filter(({ operation }) => !names.includes(operation))
    .map(({ place, operation }) => `${place}: no operation "${operation}". ${didYouMean(operation, names)}`);
  if (faults.length === 0) return;
  const whose = `the toolset ${visibleLine(toolset.name)} does not have`;
  throw new ProtocolCliError('unknown-operation', `the cases name what ${whose}`, {
    faults: faults.map(fault => visibleLine(fault.trim())),
    hint: 'correct the operations of these cases; `protocol-cli toolset <url>` lists those there are',
  });
}

/** Most rules are tried with an operation that may be called again and again: without one a check cannot come to an end. */
function gapsOf(allowed: readonly Tool[], permission: Permission): readonly string[] {
  if (allowed.length === 0) return [`no operation is called: ${WHY}`];
  const isAny = allowed.some(tool => isMarkedHarmless(tool) || permission.operations.includes(tool.name));
  return isAny ? [] : [`the cases are called once each, and most rules cannot be tried: ${WHY}`];
}

const WHY =
  'none is marked readOnly without needing authentication or much time; name one that may be called again and again with --operation <name>, and single calls with --cases <file>';

function mayBeCalled(tool: Tool, { operations, cases }: Permission): boolean {
  const isWritten = cases.some(({ operation }) => operation === tool.name);
  return operations.includes(tool.name) || isWritten || isMarkedHarmless(tool);
}

function isMarkedHarmless({ annotations = {} }: Tool): boolean {
  const { readOnly, destructive, requiresAuth, longRunning } = annotations;
  return readOnly === true && !destructive && !longRunning && requiresAuth === undefined;
}

async function callableOf(tool: Tool, { operations, cases }: Permission): Promise<Callable | string> {
  const isHarmless = isMarkedHarmless(tool) || operations.includes(tool.name);
  const written = cases.find(({ operation }) => operation === tool.name);
  if (written) return { tool, arguments: written.arguments, isHarmless };
  const example = await exampleArguments(tool.inputSchema, overAfter(SCHEMA_MS));
  if (example.ok) return { tool, arguments: example.arguments, isHarmless };
  const why = `no valid arguments could be made from its inputSchema (${example.reason})`;
  return visibleLine(`${tool.name} is not called: ${why}; write a case`);
}
