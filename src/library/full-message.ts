import { ProtocolCliError } from '../util/errors.js';

/**
 * Puts the faults and the hint of an error into its message: of an error that a test does not catch, most test runners print nothing
 * else.
 */
export async function withFullMessage<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    throw error instanceof ProtocolCliError ? fullMessage(error) : error;
  }
}

function fullMessage({ code, message, faults, hint, cause }: ProtocolCliError): ProtocolCliError {
  const lines = [
    message,
    ...faults.map(fault => `  ${fault}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
  return new ProtocolCliError(code, lines.join('\n'), { faults, cause, ...(hint !== undefined && { hint }) });
}
