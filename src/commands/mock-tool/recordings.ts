import { basename, resolve } from 'node:path';
import type { TranscriptHeader } from '../../events/log.js';
import {
  isTranscript,
  isWhole,
  missingFrom,
  type Transcript,
  withoutReadyLines,
} from '../../events/transcript-reader.js';
import type { NamedRecording } from '../../fixtures/recorded/together.js';
import { type FixtureBytes, readFixtureFiles } from '../../mock/fixture-files.js';
import { writePublicFile } from '../../system/files.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { byteLines } from '../../util/strings.js';
import { visibleLine } from '../../util/visible.js';
import { refuseToReplace } from '../save-files.js';
import type { ExitStatus, Terminal } from '../terminal.js';

/** Bytes that are enough to see what a file is. */
const HEAD = 64 * 1024;

/** By its name or by how it begins. */
export function isTranscriptFile({ path, bytes }: FixtureBytes): boolean {
  return /\.ndjson$/i.test(path) || isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)));
}

/** @throws ProtocolCliError `usage`. */
export function refuseSpeed(speed: number | undefined): void {
  if (speed === undefined) return;
  throw new ProtocolCliError('usage', '--speed needs a transcript', {
    hint: 'Fixtures have delays of their own. --save writes transcripts, such as run.ndjson.',
  });
}

/** Transcripts as fixtures, and where they are from. */
interface Recordings {
  readonly recordings: readonly NamedRecording[];
  readonly headers: readonly { readonly path: string; readonly header: TranscriptHeader | null }[];
  readonly warnings: readonly string[];
}

/**
 * Transcripts as fixtures, in the order in which they are named.
 * @throws ProtocolCliError `invalid-fixtures` where there is nothing in one that could be served.
 */
export async function readRecordings(
  files: readonly FixtureBytes[],
  { speed = 1, isExact = false }: { readonly speed?: number | undefined; readonly isExact?: boolean } = {},
): Promise<Recordings> {
  if (files.length === 0) return { recordings: [], headers: [], warnings: [] };
  const [{ readTranscripts }, { fixturesOfTranscript }, { sideBySide }] = await Promise.all([
    import('../../events/transcript-reader.js'),
    import('../../fixtures/recording/from-transcript.js'),
    import('../../fixtures/recorded/together.js'),
  ]);
  const parts = files.flatMap(({ path, bytes }) =>
    partsOf(path, readTranscripts(withoutReadyLines(byteLines(bytes)))),
  );
  const readPart = async ({ name, path, transcript }: Part) => {
    const { file, warnings } = await fixturesOfTranscript(transcript, {
      speed,
      isExact,
      isWhole: isWhole(transcript),
    });
    const told = [...missingFrom(transcript), ...warnings, ...(file.fixtures.length > 0 ? [] : [NO_CALL])];
    const { header } = transcript;
    return { name, path, file, header, told: told.map(each => visibleLine(`${path}: ${each}`)) };
  };
  const all = await Promise.all(parts.map(readPart));
  for (const { path } of files)
    refuseUnservable(
      path,
      all.filter(each => each.name === path),
    );
  const read = all.filter(isServable);
  const { recordings, warnings } = sideBySide(read);
  const headers = read.map(({ path, header }) => ({ path, header }));
  return {
    recordings,
    headers,
    warnings: [...all.flatMap(({ told }) => told), ...warnings.map(visibleLine)],
  };
}

interface Part {
  /** Of the file. */
  readonly name: string;
  readonly path: string;
  readonly transcript: Transcript;
}

/** Transcripts that were joined are served as if they were named one by one. */
function partsOf(name: string, transcripts: readonly Transcript[]): readonly Part[] {
  const of = transcripts.length;
  return transcripts.map((transcript, index) => ({
    name,
    transcript,
    path: of === 1 ? name : `${name} (${index + 1} of ${of})`,
  }));
}

const NO_CALL = 'there is no call in it that could be served';

function isServable({ file }: NamedRecording): boolean {
  return file.fixtures.length > 0;
}

/** A part without a call, such as a check without a connection, does not affect the others. */
function refuseUnservable(
  path: string,
  parts: readonly (NamedRecording & { readonly told: readonly string[] })[],
): void {
  if (parts.some(isServable)) return;
  throw nothingServable(
    path,
    parts.flatMap(({ told }) => told),
  );
}

function nothingServable(path: string, faults: readonly string[]): ProtocolCliError {
  return new ProtocolCliError(
    'invalid-fixtures',
    `there is no call in ${visibleLine(path)} that could be served`,
    {
      faults,
      hint: 'A transcript of calls over RAP is what invoke --save, record --save or mock-tool -o ndjson writes.',
    },
  );
}

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
    import('../../fixtures/recording/write-yaml.js'),
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

/** Warnings begin with the file name only: the folder is private. */
function named(warning: string, headers: Recordings['headers']): string {
  const path = headers.map(header => visibleLine(header.path)).find(each => warning.startsWith(each));
  return path === undefined ? warning : basename(path) + warning.slice(path.length);
}

function refuseOthers([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new ProtocolCliError('usage', `--export needs transcripts; ${first} is not one`, {
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
