import { faultLines, faultsOf, parseFile } from '../../fixtures/file-errors.js';
import { type Policy, policySchema } from '../../runtime/policy.js';
import { ProtocolCliError } from '../../util/errors.js';
import { decodeUtf8 } from '../../util/text.js';
import { readSource } from '../read-source.js';

/**
 * The policy in a file, YAML or JSON; `-` is standard input.
 * @throws ProtocolCliError `unreadable-file`, with every fault, its line and its path.
 */
export async function readPolicy(path: string, stdin: AsyncIterable<Uint8Array>): Promise<Policy> {
  const invalid = (faults: readonly string[]) =>
    new ProtocolCliError('unreadable-file', `the policy ${path} is not valid`, {
      faults,
      hint: 'For example: {"version": 1, "deny": ["delete_*", {"annotation": "destructive"}]}',
    });
  const text = decodeUtf8(await readSource(path, stdin));
  if (text === null) throw invalid(['it is not UTF-8']);
  if (text.trim() === '') throw invalid(['it is empty; a policy needs at least `version: 1`']);
  const reading = await parseFile({ path, text });
  if ('faults' in reading) throw invalid(reading.faults);
  const { value, faults } = faultsOf(policySchema, reading.source.value);
  if (value) return value;
  throw invalid(faultLines(reading.source, faults));
}
