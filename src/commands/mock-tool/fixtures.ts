import { basename, resolve } from 'node:path';
import {
  isTranscript,
  isWhole,
  missingFrom,
  readRecording,
  type TranscriptHeader,
} from '../../events/transcript-reader.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { overshadowed } from '../../fixtures/overshadowed.js';
import { asOneFile } from '../../fixtures/recording/as-one-file.js';
import type { RecordedFixtures } from '../../fixtures/recording/from-transcript.js';
import type { Step } from '../../fixtures/reply-schema.js';
import { stepsOf } from '../../fixtures/reply-schema.js';
import { type FixtureFile, readFixtureFiles } from '../../mock/sources.js';
import { pluralize } from '../../render/line.js';
import { isEmptyFile, writePublicFile } from '../../system/atomic-file.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { usageError } from '../options.js';
import type { ExitStatus, Terminal } from '../terminal.js';

interface LoadedFixtures {
  readonly fixtures: FixtureSet;
  /** Parts of transcripts that could not be converted, diffs that cannot be drawn, and fixtures that never match. */
  readonly warnings: readonly string[];
}

/**
 * Loads fixture files and transcripts, the fixtures first.
 * @param speed of transcripts: 2 is twice as fast as recorded, 0 is immediate
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`; `usage` for a speed without a transcript.
 */
export async function loadFixtures(files: readonly string[], speed?: number): Promise<LoadedFixtures> {
  const read = await readFixtureFiles(files);
  const transcripts = read.filter(isTranscriptFile);
  if (transcripts.length === 0 && speed !== undefined)
    throw usageError(
      '--speed needs a transcript',
      'Fixtures have delays of their own. --save writes transcripts, such as run.ndjson.',
    );
  const { recordings, warnings } = await readRecordings(transcripts, { speed, isExact: true });
  const others = read.filter(each => !transcripts.includes(each));
  const { readFixtures } = await import('../../fixtures/read-fixtures.js');
  const fixtures = await readFixtures(others, recordings);
  return {
    fixtures,
    warnings: [...warnings, ...(await diffWarnings(fixtures)), ...unusedWarnings(fixtures)],
  };
}

/** Returns warnings about fixtures that never match. They may be intended, so they are not errors. */
function unusedWarnings({ fixtures }: FixtureSet): string[] {
  return overshadowed(fixtures).map(({ fixture: { id, place }, by }) => {
    const where = id === place ? '' : ` (${place})`;
    return visibleLine(
      `fixture ${id} never matches: ${by.id} comes before it and matches the same calls${where}`,
    );
  });
}

const VIEW = 'view.content';

/** The script of npx for PowerShell receives its arguments without the first `--`. */
const POWERSHELL_HINT = "In PowerShell, npx removes --: write '--' with the quotes, or start npx.cmd.";

/** What to do about a path at which nothing is. */
export const PATH_HINT = `Give the path of a YAML or JSON file that exists, of a folder of them, or of a transcript. A command to run goes after --.${process.platform === 'win32' ? ` ${POWERSHELL_HINT}` : ''}`;

interface WrittenDiff {
  readonly path: string;
  readonly content: unknown;
}

/** Returns warnings about diffs that clients cannot show (TOOL-DIFF). Diffs with content computed at call time are not checked. */
async function diffWarnings({ fixtures }: FixtureSet): Promise<string[]> {
  const written = fixtures.flatMap(fixture =>
    stepsOf(fixture)
      .flatMap(diffsIn)
      .filter(({ content }) => !isMadeLater(content))
      .map(diff => ({ ...diff, place: fixture.place })),
  );
  if (written.length === 0) return [];
  const { readDiff, readView } = await import('../../segments/segments.js');
  return written.flatMap(({ place, path, content }) => {
    const isView = path === VIEW && isRecord(content);
    const reading = isView ? readView({ type: 'diff', content }) : readDiff(content);
    const skipped = 'clients cannot show it and show the next segment instead';
    const fault = reading.ok ? reading.complaint : `${reading.reason}; ${skipped}`;
    return fault === undefined ? [] : [visibleLine(`${place} ${path}: ${fault} (TOOL-DIFF)`)];
  });
}

function diffsIn(step: Step): WrittenDiff[] {
  if (step.kind === 'view') {
    const { view_type: type, content } = step.view;
    return type === 'diff' && Object.keys(content).length > 0 ? [{ path: VIEW, content }] : [];
  }
  const segments: unknown = step.kind === 'result' ? step.result['display_as'] : undefined;
  if (!Array.isArray(segments)) return [];
  return segments.flatMap((segment: unknown, index) =>
    isRecord(segment) && segment['type'] === 'diff'
      ? [{ path: `result.display_as[${index}].content`, content: segment['content'] }]
      : [],
  );
}

const TEMPLATE = /^(?:@@.*)?\{\{/m;

/** Whether the content is computed at call time, from two texts or a template. */
function isMadeLater(content: unknown): boolean {
  if (isRecord(content) && ('before' in content || 'after' in content)) return true;
  const patch = isRecord(content) ? content['patch'] : content;
  return typeof patch === 'string' && TEMPLATE.test(patch);
}

/** How many bytes are read to detect the format of a file. */
const HEAD = 64 * 1024;

/** Detects a transcript by its name or its first bytes. */
function isTranscriptFile({ path, bytes }: FixtureFile): boolean {
  return /\.ndjson$/i.test(path) || isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)));
}

interface ReadOptions {
  readonly speed?: number | undefined;
  readonly isExact?: boolean;
}

/** A transcript as fixtures. */
interface Recording extends RecordedFixtures {
  readonly path: string;
  readonly header: TranscriptHeader | null;
}

interface Recordings {
  readonly recordings: readonly Recording[];
  readonly warnings: readonly string[];
}

/**
 * Reads transcripts as fixtures, in the order of the command line.
 * @throws ProtocolCliError `invalid-fixtures` for a file without a usable call; `unreadable-file`.
 */
async function readRecordings(files: readonly FixtureFile[], options: ReadOptions): Promise<Recordings> {
  const recordings = await Promise.all(files.map(file => readOne(file, options)));
  return { recordings, warnings: recordings.flatMap(({ warnings }) => warnings) };
}

async function readOne(
  { path, bytes }: FixtureFile,
  { speed = 1, isExact = false }: ReadOptions,
): Promise<Recording> {
  const transcript = readRecording(path, bytes);
  if (!transcript)
    throw nothingServable(path, [`${visibleLine(path)}: it is not a transcript`], TRANSCRIPT_HINT);
  const { fixturesOfTranscript } = await import('../../fixtures/recording/from-transcript.js');
  const options = { speed, isExact, isWhole: isWhole(transcript) };
  const { file, warnings } = await fixturesOfTranscript(transcript, options);
  const all = [...missingFrom(transcript), ...warnings].map(each => visibleLine(`${path}: ${each}`));
  if (file.fixtures.length === 0)
    throw nothingServable(path, all, all.length > 0 ? TRANSCRIPT_HINT : NO_CALLS_HINT);
  return { path, file, header: transcript.header, warnings: all };
}

const TRANSCRIPT_HINT =
  'A transcript of calls over RAP or MCP is what invoke --save, record --save or mock-tool -o ndjson writes.';

const NO_CALLS_HINT = 'It has no calls; protocol-cli render shows what it has.';

function nothingServable(path: string, faults: readonly string[], hint: string): ProtocolCliError {
  const message = `no call in ${visibleLine(path)} can be served`;
  return new ProtocolCliError('invalid-fixtures', message, { faults, hint });
}

/**
 * `--export`: writes transcripts as one fixture file, and reports what could not be converted; `-` is stdout. Never replaces a file,
 * which the user may have edited.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `unwritable-file`, `invalid-fixtures`.
 */
export async function exportFixtures(
  files: readonly string[],
  target: string,
  speed: number | undefined,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): Promise<ExitStatus> {
  const read = await readFixtureFiles(files);
  const stranger = read.find(each => !isTranscriptFile(each));
  if (stranger)
    throw usageError(
      `--export needs transcripts; ${stranger.path} is not one`,
      'Give only transcripts, as --save and -o ndjson write them.',
    );
  if (target !== '-' && files.some(file => resolve(file) === resolve(target)))
    throw usageError(
      `--export would write over the transcript ${target}`,
      'Give another file, such as fixtures.yaml.',
    );
  const recorded = await readRecordings(read, { speed });
  const { yamlOf } = await import('../../fixtures/yaml.js');
  const file = asOneFile(recorded.recordings);
  const text = yamlOf(file, commentsOf(recorded));
  await (target === '-' ? writeOut(stdout, text) : writePublicFile(target, text, { replaces: isEmptyFile }));
  const { warnings } = recorded;
  for (const warning of warnings) stderr.write(`warning: ${warning}\n`);
  const lost = warnings.length > 0 ? `, ${pluralize(warnings.length, 'warning')}` : '';
  const wrote = visibleLine(`wrote ${target}: ${pluralize(file.fixtures.length, 'fixture')}${lost}`);
  if (target !== '-') stderr.write(`${wrote}\n`);
  return 0;
}

/** Returns the comments at the top of the file: source, omissions, how to use it. Folder names are private and left out. */
function commentsOf({ recordings, warnings }: Recordings): string[] {
  const from = recordings.map(({ path, header }) => {
    const about = header
      ? `: ${header.startedAt}, by ${header.program}, as the ${header.observer} saw it`
      : '';
    return visibleLine(`Recorded in ${basename(path)}${about}`);
  });
  const paths = recordings.map(({ path }) => visibleLine(path));
  const lost = warnings.map(warning => {
    const path = paths.find(each => warning.startsWith(each));
    return `  ${path === undefined ? warning : basename(path) + warning.slice(path.length)}`;
  });
  return [
    ...from,
    ...(lost.length > 0 ? ['Not all of it could be carried over:', ...lost] : []),
    'Serve it: protocol-cli mock-tool <this file>',
  ];
}
