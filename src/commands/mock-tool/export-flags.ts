import { ProtocolCliError } from '../../errors.js';
import { flagOf } from './mcp/flags.js';

/** What is about the export itself, or about nothing that it does. */
const OF_EXPORTS = ['export', 'speed', 'color', 'quiet'];

/**
 * What makes no sense together with `--export`, which writes a file and serves nothing.
 * @throws ProtocolCliError `usage` that names it.
 */
export function checkExportFlags(
  files: readonly string[],
  { export: target, given = [] }: { readonly export?: string; readonly given?: readonly string[] },
  hasCommand: boolean,
): void {
  if (target === undefined) return;
  if (hasCommand)
    throw usage('--export serves nothing that a command could use', 'Serve the exported file to it.');
  const strays = given.filter(option => !OF_EXPORTS.includes(option)).map(flagOf);
  if (strays.length > 0)
    throw usage(
      `--export serves nothing, and these options are about that: ${strays.join(', ')}`,
      'Leave them out.',
    );
  if (files.length === 0)
    throw usage(
      '--export needs a transcript',
      'For example: protocol-cli mock-tool run.ndjson --export fixtures.yaml',
    );
}

function usage(message: string, hint: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, { hint });
}
