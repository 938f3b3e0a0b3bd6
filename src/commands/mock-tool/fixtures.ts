import { basename, resolve } from 'node:path';
import type { TranscriptHeader } from '../../events/log.js';
import { isTranscript, isWhole, missingFrom } from '../../events/transcript-reader.js';
import { type FixtureSet, stepsOf } from '../../fixtures/fixture-set.js';
import type { NamedRecording } from '../../fixtures/read-fixtures.js';
import type { Step } from '../../fixtures/reply-schema.js';
import { type FixtureBytes, readFixtureFiles, textOf } from '../../mock/fixture-files.js';
import { writePublicFile } from '../../system/files.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { usage } from '../options.js';
import { readRecording } from '../read-recording.js';
import { refuseToReplace } from '../save-files.js';
import type { ExitStatus, Terminal } from '../terminal.js';

/**
 * Warnings about invalid diffs in fixtures, and wrong line counts (TOOL-DIFF): clients would show text instead. Diffs that only a call
 * completes are not checked.
 */
export async function diffWarnings({ fixtures }: Pick<FixtureSet, 'fixtures'>): Promise<string[]> {
  const written = fixtures.flatMap(fixture =>
    stepsOf(fixture)
      .flatMap(diffsIn)
      .map(diff => ({ ...diff, place: fixture.place })),
  );
  if (written.length === 0) return [];
  const { diffKind, readView } = await import('../../display/segments.js');
  return written.flatMap(({ place, path, content }) => {
    const isView = path === VIEW && isRecord(content);
    const reading = isView ? readView({ type: 'diff', content }) : diffKind.read(content);
    const fault = reading.ok ? reading.complaint : `${reading.reason}; ${INSTEAD}`;
    return fault === undefined ? [] : [visibleLine(`${place} ${path}: ${fault} (TOOL-DIFF)`)];
  });
}

const VIEW = 'view.content';

const INSTEAD = 'clients cannot show it and show the next segment instead';

interface WrittenDiff {
  readonly path: string;
  readonly content: unknown;
}

function diffsIn(step: Step): WrittenDiff[] {
  if (step.kind === 'view') {
    const { view_type: type, content } = step.view;
    const isShown = type === 'diff' && Object.keys(content).length > 0;
    return isShown ? whole({ path: VIEW, content }) : [];
  }
  const segments: unknown = step.kind === 'result' ? step.result['display_as'] : undefined;
  if (!Array.isArray(segments)) return [];
  return segments.flatMap((segment: unknown, index) =>
    isRecord(segment) && segment['type'] === 'diff'
      ? whole({ path: `result.display_as[${index}].content`, content: segment['content'] })
      : [],
  );
}

/** Leaves out a patch that is made later, of two texts or by a template. */
function whole(diff: WrittenDiff): WrittenDiff[] {
  const { content } = diff;
  const patch = isRecord(content) ? content['patch'] : content;
  const isMade = isRecord(content) && ('before' in content || 'after' in content);
  return isMade || (typeof patch === 'string' && OPEN.test(patch)) ? [] : [diff];
}

const OPEN = /^(?:@@.*)?\{\{/m;

export interface LoadedFixtures {
  readonly fixtures: FixtureSet;
  /** Parts of transcripts that could not be carried over, and diffs that cannot be drawn. */
  readonly warnings: readonly string[];
}

/**
 * Fixture files and transcripts, the fixtures first.
 * @param speed of transcripts: 2 is twice as fast as it was, 0 is at once
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`; `usage` for a speed without a transcript.
 */
export async function loadFixtures(files: readonly string[], speed?: number): Promise<LoadedFixtures> {
  const read = await readFixtureFiles(files);
  const transcripts = read.filter(isTranscriptFile);
  if (transcripts.length === 0) refuseSpeed(speed);
  const { recordings, warnings } = await readRecordings(transcripts, { speed, isExact: true });
  const texts = read
    .filter(each => !transcripts.includes(each))
    .map(each => ({ path: each.path, text: textOf(each) }));
  const { readFixtures } = await import('../../fixtures/read-fixtures.js');
  const fixtures = await readFixtures(texts, recordings);
  return { fixtures, warnings: [...warnings, ...(await diffWarnings(fixtures))] };
}

/** Bytes that are enough to see what a file is. */
const HEAD = 64 * 1024;

/** By its name or by how it begins. */
function isTranscriptFile({ path, bytes }: FixtureBytes): boolean {
  return /\.ndjson$/i.test(path) || isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)));
}

/** @throws ProtocolCliError `usage`. */
export function refuseSpeed(speed: number | undefined): void {
  if (speed === undefined) return;
  throw usage(
    '--speed needs a transcript',
    'Fixtures have delays of their own. --save writes transcripts, such as run.ndjson.',
  );
}

/** Transcripts as fixtures, and where they are from. */
interface Recordings {
  readonly recordings: readonly NamedRecording[];
  readonly headers: readonly { readonly path: string; readonly header: TranscriptHeader | null }[];
  readonly warnings: readonly string[];
}

interface ReadOptions {
  readonly speed?: number | undefined;
  readonly isExact?: boolean;
}

/**
 * Transcripts as fixtures, in the order of the command line.
 * @throws ProtocolCliError `invalid-fixtures` for a file without a call that could be served; `unreadable-file`.
 */
async function readRecordings(
  files: readonly FixtureBytes[],
  options: ReadOptions = {},
): Promise<Recordings> {
  if (files.length === 0) return { recordings: [], headers: [], warnings: [] };
  const { sideBySide } = await import('../../fixtures/recording/from-transcript.js');
  const read = await Promise.all(files.map(file => readOne(file, options)));
  const { recordings, warnings } = sideBySide(read);
  return {
    recordings,
    headers: read.map(({ path, header }) => ({ path, header })),
    warnings: [...read.flatMap(each => each.warnings), ...warnings.map(visibleLine)],
  };
}

async function readOne({ path, bytes }: FixtureBytes, { speed = 1, isExact = false }: ReadOptions) {
  const transcript = readRecording(path, bytes);
  if (!transcript) throw nothingServable(path, [`${visibleLine(path)}: it is not a transcript`]);
  const { fixturesOfTranscript } = await import('../../fixtures/recording/from-transcript.js');
  const options = { speed, isExact, isWhole: isWhole(transcript) };
  const { file, warnings } = await fixturesOfTranscript(transcript, options);
  const all = [...missingFrom(transcript), ...warnings].map(each => visibleLine(`${path}: ${each}`));
  if (file.fixtures.length === 0) throw nothingServable(path, all);
  return { path, file, header: transcript.header, warnings: all };
}

function nothingServable(path: string, faults: readonly string[]): ProtocolCliError {
  const hint =
    'A transcript of calls over RAP is what invoke --save, record --save or mock-tool -o ndjson writes.';
  const message = `no call in ${visibleLine(path)} that can be served`;
  return new ProtocolCliError('invalid-fixtures', message, { faults, hint });
}

/**
 * `--export`: writes transcripts as one fixture file, with what could not be carried over; `-` is stdout. It replaces no file: the user
 * may have edited it.
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
    throw usage(
      `--export needs transcripts; ${stranger.path} is not one`,
      'Name transcripts alone: what --save or -o ndjson has written.',
    );
  if (target !== '-' && files.some(file => resolve(file) === resolve(target)))
    throw usage(
      `--export would write over the transcript ${target}`,
      'Give it a file of its own, such as fixtures.yaml.',
    );
  if (target !== '-') await refuseToReplace(target, '--export');
  const recorded = await readRecordings(read, { speed });
  const [{ asOneFile }, { yamlOf }] = await Promise.all([
    import('../../fixtures/recording/from-transcript.js'),
    import('../../fixtures/yaml.js'),
  ]);
  const file = asOneFile(recorded.recordings);
  const text = yamlOf(file, commentsOf(recorded));
  await (target === '-' ? writeOut(stdout, text) : writePublicFile(target, text, { replaces: false }));
  const { warnings } = recorded;
  for (const warning of warnings) stderr.write(`warning: ${warning}\n`);
  const lost = warnings.length > 0 ? `, ${counted(warnings.length, 'warning')}` : '';
  const wrote = visibleLine(`wrote ${target}: ${counted(file.fixtures.length, 'fixture')}${lost}`);
  if (target !== '-') stderr.write(`${wrote}\n`);
  return 0;
}

/** Where it is from, what it lacks, and what to do with it. Files are named without their folder, which is private. */
function commentsOf({ headers, warnings }: Recordings): string[] {
  const from = headers.map(({ path, header }) => {
    const about = header
      ? `: ${header.startedAt}, by ${header.program}, as the ${header.observer} saw it`
      : '';
    return visibleLine(`Recorded in ${basename(path)}${about}`);
  });
  const paths = headers.map(({ path }) => visibleLine(path));
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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
