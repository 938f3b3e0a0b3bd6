import { ProtocolCliError } from '../../errors.js';
import type { Case } from '../../fixtures/cases/case.js';
import type { ExpectedFailure } from '../../fixtures/expected-failures/expected-failure.js';
import { decodeUtf8 } from '../../text/json.js';
import { readSource } from '../read-source.js';

/** Files that are larger were hardly written by hand. */
const MOST = 16 * 1024 * 1024;

type Stdin = AsyncIterable<Uint8Array>;

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
export async function readCaseFile(file: string, stdin: Stdin): Promise<readonly Case[]> {
  const { readCases } = await import('../../fixtures/cases/read-cases.js');
  return readCases({ path: file, text: await textOf(file, stdin) });
}

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
export async function readFailureFile(file: string, stdin: Stdin): Promise<readonly ExpectedFailure[]> {
  const { readExpectedFailures } = await import('../../fixtures/expected-failures/read-failures.js');
  return readExpectedFailures({ path: file, text: await textOf(file, stdin) });
}

async function textOf(file: string, stdin: Stdin): Promise<string> {
  const text = decodeUtf8(await readSource(file, stdin, MOST));
  if (text !== null) return text;
  throw new ProtocolCliError('unreadable-file', `cannot read ${file}: it is not UTF-8`, {
    hint: 'It is to be YAML or JSON.',
  });
}
