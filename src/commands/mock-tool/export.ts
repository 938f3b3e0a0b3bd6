import { basename, resolve } from 'node:path';
import { ProtocolCliError } from '../../errors.js';
import { writeOut } from '../../system/output.js';
import { writePublicFile } from '../../system/public-file.js';
import { visibleLine } from '../../text/visible.js';
import { readFixtureFiles } from '../../tool/fixture-files.js';
import type { ExitStatus } from '../exit-status.js';
import { refuseToReplace } from '../refuse-to-replace.js';
import type { Terminal } from '../terminal.js';
import { isTranscriptFile, type Recordings, readRecordings } from './recordings.js';

/**
 * `--export`: transcripts as one fixture file, which never replaces one that may have been edited; `-` is stdout. What was written, and
 * what could not be carried over, is said.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `unwritable-file`, `invalid-fixtures`.
 */
export async function exportFixtures(
  files: readonly string[],
  target: string,
  speed: number | undefined,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): Promise<ExitStatus> {
  const read = await readFixtureFiles(files);
  refuseOthers(read.filter(each => !isTranscriptFile(each)).map(({ path }) => path));
  refuseItself(files, target);
  if (target !== '-') await refuseToReplace(target, '--export');
  const recorded = await readRecordings(read, { speed });
  const [{ asOneFile }, { yamlOf }] = await Promise.all([
    import('../../fixtures/recorded/together.js'),
    import('../../fixtures/recorded/yaml.js'),
  ]);
  const file = asOneFile(recorded.recordings);
  const text = yamlOf(file, commentsOf(recorded));
  await (target === '-' ? writeOut(stdout, text) : writePublicFile(target, text, { replaces: false }));
  for (const warning of recorded.warnings) stderr.write(`warning: ${warning}\n`);
  if (target !== '-') stderr.write(`${wrote(target, file.fixtures.length, recorded.warnings.length)}\n`);
  return 0;
}

function wrote(target: string, fixtures: number, warnings: number): string {
  const lost = warnings > 0 ? `, ${counted(warnings, 'warning')}` : '';
  return visibleLine(`wrote ${target}: ${counted(fixtures, 'fixture')}${lost}`);
}

/** Where it is from, and what to do with it. */
function commentsOf({ headers, warnings }: Recordings): string[] {
  const from = headers.map(({ path, header }) => {
    const about = header
      ? `: ${header.startedAt}, by ${header.program}, as the ${header.observer} saw it`
      : '';
    return visibleLine(`Recorded in ${basename(path)}${about}`);
  });
  const lost =
    warnings.length > 0
      ? ['Not all of it could be carried over:', ...warnings.map(each => `  ${named(each, headers)}`)]
      : [];
  return [...from, ...lost, 'Serve it: protocol-cli mock-tool <this file>'];
}

/** A warning begins with its file, as that was typed: in which folder it is concerns nobody who gets the fixtures. */
function named(warning: string, headers: Recordings['headers']): string {
  const path = headers.map(header => visibleLine(header.path)).find(each => warning.startsWith(each));
  return path === undefined ? warning : basename(path) + warning.slice(path.length);
}

function refuseOthers([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new ProtocolCliError('usage', `--export makes fixtures of transcripts, and ${first} is none`, {
    hint: 'Name transcripts alone: what --save or -o ndjson has written.',
  });
}

function refuseItself(files: readonly string[], target: string): void {
  if (target === '-' || !files.some(file => resolve(file) === resolve(target))) return;
  throw new ProtocolCliError('usage', `--export would write over the transcript ${target}`, {
    hint: 'Give it a file of its own, such as fixtures.yaml.',
  });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
