import { type ErrorCode, ProtocolCliError } from '../../src/util/errors.js';

/** Returns the {@link ProtocolCliError} that `work` throws; any other error is thrown again. */
export async function errorOf(work: () => unknown): Promise<ProtocolCliError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ProtocolCliError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** Code and message in one line, for tables. */
export async function troubleOf(work: () => unknown): Promise<`${ErrorCode}: ${string}`> {
  const { code, message } = await errorOf(work);
  return `${code}: ${message}`;
}
