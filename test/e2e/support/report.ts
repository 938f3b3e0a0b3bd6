import * as z from 'zod/mini';
import { type Report, reportSchema } from '../../../src/render/outputs/schemas.js';
import { publishedSchema } from '../../support/published-schema.js';
import { runHere } from './in-process.js';
import { type Ended, type RunOptions, run } from './program.js';

export type { Report };

const published = publishedSchema('report');
const SLOW = 'the acknowledgement took ';

export interface Reported extends Ended {
  readonly report: Report;
}

/** `invoke … -o json`, to its end; the report is held against the published schema. */
export async function invokeJson(args: readonly string[], options?: RunOptions): Promise<Reported> {
  const ended = await run(['invoke', ...args, '-o', 'json'], options);
  return { ...ended, report: readReport(ended) };
}

/** The same without a process of its own, see {@link runHere}. */
export async function invokeJsonHere(args: readonly string[], options?: RunOptions): Promise<Reported> {
  const ended = await runHere(['invoke', ...args, '-o', 'json'], options);
  return { ...ended, report: readReport(ended) };
}

/** @throws Error with what was printed instead. */
export function readReport({ stdout, stderr, status }: Ended): Report {
  const value = jsonOf(stdout);
  const faults = published.faultsOf(value);
  const parsed = reportSchema.safeParse(value);
  if (faults.length === 0 && parsed.success) return parsed.data;
  const why = parsed.error ? z.prettifyError(parsed.error) : faults.join('\n');
  throw new Error(`no report (exit ${status}): ${why}\n${stdout.slice(0, 500)}\n${stderr.slice(0, 500)}`);
}

/** The warnings, without those that only say how busy this machine was. */
export function warningsOf({ warnings }: Report): Report['warnings'] {
  return warnings.filter(({ message }) => !message.startsWith(SLOW));
}

export function warningIds(report: Report): (string | undefined)[] {
  return warningsOf(report).map(({ id }) => id);
}

/** Stderr, without the one line that depends on how busy this machine was. */
export function steady(stderr: string): string {
  return stderr.replace(new RegExp(`^warning: ${SLOW}.*\\n`, 'gm'), '');
}

export function verdicts({ callbacks = [] }: Report): string[] {
  return callbacks.map(({ verdict, status }) => `${verdict} ${status}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const checksSchema = z.object({ checks: z.array(z.object({ id: z.string(), status: z.string() })) });

/** The ids of the rules in a report of `check`, by what became of them; without the one that depends on how busy this machine was. */
export function verdictsIn(report: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { id, status } of checksSchema.parse(JSON.parse(report)).checks)
    if (id !== 'TOOL-ACK') found[status] = [...(found[status] ?? []), id];
  return found;
}
