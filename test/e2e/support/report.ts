import * as z from 'zod';
import { type Ended, type RunOptions, run } from './program.js';

const skippedSchema = z.strictObject({ index: z.number(), type: z.string(), reason: z.string() });
const callbackSchema = z.strictObject({
  type: z.string().nullable(),
  ms: z.number(),
  verdict: z.string(),
  status: z.number(),
  reason: z.string().optional(),
  bytes: z.number(),
  auth_url: z.string().optional(),
});

/** What `-o json` of `invoke` prints, member by member as the contract has it; where it failed, as far as it got. */
export const reportSchema = z.strictObject({
  invocation: z
    .looseObject({ id: z.string(), group_id: z.string(), operation: z.string(), callback_url: z.string() })
    .optional(),
  endpoint: z.string().optional(),
  acknowledgement: z.strictObject({ status: z.number(), ms: z.number() }).nullish(),
  outcome: z
    .looseObject({
      type: z.enum(['success', 'error', 'canceled', 'timeout', 'denied', 'unknown']),
      basis: z.enum(['declared', 'convention', 'ours', 'assumed']),
    })
    .nullish(),
  result: z.looseObject({ type: z.literal('tool_result') }).nullish(),
  llm: z.strictObject({ text: z.string() }).nullish(),
  display: z
    .strictObject({
      chosen: z.number().nullable(),
      type: z.string(),
      reason: z.string(),
      skipped: z.array(skippedSchema),
    })
    .nullish(),
  timing: z.strictObject({ ackMs: z.number().nullable(), resultMs: z.number().nullable() }).optional(),
  callbacks: z.array(callbackSchema).optional(),
  warnings: z.array(z.strictObject({ id: z.string().optional(), message: z.string() })),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      hint: z.string().optional(),
      faults: z.array(z.string()).optional(),
    })
    .optional(),
});

const SLOW = 'the acknowledgement took ';

export type Report = z.infer<typeof reportSchema>;

export interface Reported extends Ended {
  readonly report: Report;
}

/** `invoke … -o json`, to its end; the report is checked against the contract. */
export async function invokeJson(args: readonly string[], options?: RunOptions): Promise<Reported> {
  const ended = await run(['invoke', ...args, '-o', 'json'], options);
  return { ...ended, report: readReport(ended) };
}

/** @throws Error with what was printed instead. */
export function readReport({ stdout, stderr, status }: Ended): Report {
  const parsed = reportSchema.safeParse(jsonOf(stdout));
  if (parsed.success) return parsed.data;
  throw new Error(
    `no report (exit ${status}): ${z.prettifyError(parsed.error)}\n${stdout.slice(0, 500)}\n${stderr.slice(0, 500)}`,
  );
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
