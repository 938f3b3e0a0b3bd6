import type { Warning } from '../../protocol/requirements.js';
import type { ErrorCode } from '../../util/errors.js';
import { visible, visibleLine } from '../../util/visible.js';
import type { Report } from './schemas.js';

export type FailureCode = ErrorCode | 'bad-acknowledgement' | 'denied' | 'timeout';

/** Why a command failed, or why a tool sent no result, and what to do next. */
export interface Trouble {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly faults?: readonly string[] | undefined;
}

/** `error: …`, the faults, and a hint. Every line is safe to print. */
export function troubleText({ message, faults = [], hint }: Trouble): string {
  const lines = [`error: ${visibleLine(message)}`, ...faults.map(fault => `  ${visibleLine(fault)}`)];
  return `${[...lines, ...(hint ? [`hint: ${visibleLine(hint)}`] : [])].join('\n')}\n`;
}

/** `warning: … [TOOL-ACK]`, and its details on lines of their own. */
export function warningText({ id, message, details = [] }: Warning): string {
  const first = `warning: ${visibleLine(message)}${id ? ` [${id}]` : ''}`;
  return `${[first, ...details.map(detail => `  ${visibleLine(detail)}`)].join('\n')}\n`;
}

/** The error as data. */
export function errorReport({ code, message, hint, faults = [] }: Trouble): NonNullable<Report['error']> {
  return { code, message, hint, ...(faults.length > 0 && { faults: [...faults] }) };
}

const MAX_WIDTH = 80;

/** Wraps the lines of messages at spaces on a terminal; otherwise they stay whole, for `grep`. */
export function wrapMessages(
  text: string,
  { isTTY, columns = MAX_WIDTH }: { readonly isTTY?: boolean; readonly columns?: number },
): string {
  if (!isTTY) return text;
  const width = Math.min(columns, MAX_WIDTH);
  return text.replace(new RegExp(`(?=[^\\n]{${width + 1}})(\\S[^\\n]{0,${width - 1}}) +`, 'g'), '$1\n');
}

/** The environment of an unexpected error. */
interface FaultContext {
  /** `protocol-cli/0.1.0` and its platform. */
  readonly program: string;
  /** User code is running: it may have failed, and its author needs the stack. */
  readonly hasUserCode: boolean;
  readonly wantsStack: boolean;
}

/** Describes an unexpected error: what failed, whose fault it is, and where to report it. Every line is safe to print. */
export function faultText(error: unknown, context: FaultContext): string {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const text = context.wantsStack || context.hasUserCode ? stack : message;
  return `internal error: ${visible(text)}\nhint: ${hintFor(context)}\n`;
}

function hintFor({ program, hasUserCode, wantsStack }: FaultContext): string {
  const stack = wantsStack || hasUserCode ? 'this stack trace' : 'the stack trace printed with DEBUG=1';
  const report = `Please report it with ${stack} (${program}); run "npm bugs protocol-cli" to open the issue tracker.`;
  return hasUserCode
    ? `The error was not caught. If the stack trace names one of your modules, that module threw it; otherwise it is a bug in protocol-cli. ${report}`
    : `This is a bug in protocol-cli. ${report}`;
}
