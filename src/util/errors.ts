/**
 * Errors that this program can explain. A tool's failure (a `tool_result` with an error text, a refused acknowledgement) is an
 * outcome, not an error.
 * @example
 * const isOurs = (error: unknown, code: ErrorCode) => error instanceof ProtocolCliError && error.code === code;
 */
export type ErrorCode =
  | 'usage'
  | 'unreadable-file'
  | 'unknown-operation'
  | 'invalid-arguments'
  | 'invalid-toolset'
  | 'invalid-fixtures'
  | 'port-in-use'
  | 'unreachable'
  | 'no-discovery'
  | 'refused-address'
  | 'decision-needed'
  | 'declined'
  | 'interrupted'
  | 'platform-refused'
  | 'bad-answer'
  | 'session-failed'
  | 'command-failed'
  | 'unwritable-file';

/** What an error says besides its message. */
export interface ErrorDetails {
  /** What to do next, in one sentence. */
  readonly hint?: string;
  /** Individual errors, each with its place (JSON path, file:line). */
  readonly faults?: readonly string[];
  readonly cause?: unknown;
}

/**
 * What failed and where (`message`), what to do next (`hint`), and a stable `code` that decides the exit status.
 * @example
 * try {
 *   await connect('http://127.0.0.1:3001');
 * } catch (error) {
 *   if (!(error instanceof ProtocolCliError)) throw error;
 *   console.error(error.code, error.message, error.hint);
 * }
 */
export class ProtocolCliError extends Error {
  override readonly name = 'ProtocolCliError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly faults: readonly string[];

  constructor(code: ErrorCode, message: string, { hint, faults = [], cause }: ErrorDetails = {}) {
    super(message, { cause });
    this.code = code;
    this.hint = hint;
    this.faults = faults;
  }

  /** Copies the error with changed texts, for example redacted ones. */
  mapText(change: (text: string) => string): ProtocolCliError {
    const { code, message, hint, faults, cause } = this;
    const details = { faults: faults.map(change), ...(hint !== undefined && { hint: change(hint) }), cause };
    return new ProtocolCliError(code, change(message), details);
  }
}

/** The code of a system or library error, such as `EPIPE`; empty if it has none. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The message of an error. If every address of a name failed, Node's AggregateError has no message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
