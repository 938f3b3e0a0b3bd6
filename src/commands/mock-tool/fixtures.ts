import { basename, resolve } from 'node:path';
import { isTranscript, isWhole, missingFrom, readRecording } from '../../events/transcript-reader.js';
import { type FixtureSet, stepsOf } from '../../fixtures/fixture-set.js';
import type { Step } from '../../fixtures/reply-schema.js';
import type { MockTool } from '../../mock/mock-tool.js';
import { type FixtureBytes, fixtureFiles, readFixtureFiles, textOf } from '../../mock/sources.js';
import { writePublicFile } from '../../system/files.js';
import { writeOut } from '../../system/streams.js';
import { watchFiles } from '../../system/watch-files.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { refuseToReplace } from '../event-output.js';
import { usage } from '../options.js';
import type { LiveOutput } from '../run-server.js';
import type { ExitStatus, Terminal } from '../terminal.js';

interface LoadedFixtures {
  readonly fixtures: FixtureSet;
  /** Parts of transcripts that could not be converted, and diffs that cannot be drawn. */
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
    throw usage(
      '--speed needs a transcript',
      'Fixtures have delays of their own. --save writes transcripts, such as run.ndjson.',
    );
  const { recordings, warnings } = await readRecordings(transcripts, { speed, isExact: true });
  const others = read.filter(each => !transcripts.includes(each));
  const { readFixtures } = await import('../../fixtures/read-fixtures.js');
  const texts = others.map(each => ({ path: each.path, text: textOf(each) }));
  const fixtures = await readFixtures(texts, recordings);
  return { fixtures, warnings: [...warnings, ...(await diffWarnings(fixtures))] };
}

const VIEW = 'view.content';

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
  const { readDiff, readView } = await import('../../display/segments.js');
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
function isTranscriptFile({ path, bytes }: FixtureBytes): boolean {
  return /\.ndjson$/i.test(path) || isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)));
}

interface ReadOptions {
  readonly speed?: number | undefined;
  readonly isExact?: boolean;
}

type Recordings = Awaited<ReturnType<typeof readRecordings>>;

/**
 * Reads transcripts as fixtures, in the order of the command line.
 * @throws ProtocolCliError `invalid-fixtures` for a file without a usable call; `unreadable-file`.
 */
async function readRecordings(files: readonly FixtureBytes[], options: ReadOptions) {
  const recordings = await Promise.all(files.map(file => readOne(file, options)));
  return { recordings, warnings: recordings.flatMap(({ warnings }) => warnings) };
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
    throw usage(
      `--export needs transcripts; ${stranger.path} is not one`,
      'Give only transcripts, as --save and -o ndjson write them.',
    );
  if (target !== '-' && files.some(file => resolve(file) === resolve(target)))
    throw usage(
      `--export would write over the transcript ${target}`,
      'Give another file, such as fixtures.yaml.',
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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

interface Reloadable extends Pick<MockTool, 'verify'> {
  replaceFixtures(fixtures: FixtureSet): Promise<void>;
}

/** Reloads the fixtures when a file changes or on request; one reload at a time, so that the last one wins. */
export class FixtureReloader {
  #reading = Promise.resolve();
  #watcher: { close(): void } | null = null;
  #isChanged = false;
  #reload: (() => Promise<void>) | null = null;

  /**
   * @param paths files and folders from the command line
   * @param speed of transcripts
   * @param check returns warnings about fixtures
   */
  constructor(
    private readonly paths: readonly string[],
    private readonly speed: number | undefined,
    private readonly check: (fixtures: FixtureSet) => readonly string[],
  ) {}

  /** Must start before the mock, so that no edit is missed. */
  async watch(): Promise<void> {
    const onChange = () => {
      this.#isChanged = true;
      this.reload();
    };
    this.#watcher = await watchFiles(() => fixtureFiles(this.paths), onChange);
  }

  /** Applies changes from now on, and those that happened before. */
  attach(tool: Reloadable, output: Pick<LiveOutput, 'notice' | 'warn'>): void {
    this.#reload = () => this.#readAgain(tool, output);
    if (this.#isChanged) this.reload();
  }

  reload(): void {
    if (this.#reload) this.#reading = this.#reading.then(this.#reload);
  }

  async close(): Promise<void> {
    this.#watcher?.close();
    await this.#reading;
  }

  async #readAgain(tool: Reloadable, output: Pick<LiveOutput, 'notice' | 'warn'>): Promise<void> {
    if (this.paths.length === 0) return output.notice('no fixture files to reload');
    try {
      const { length: before } = tool.verify().fixtures;
      const { fixtures, warnings } = await loadFixtures(await fixtureFiles(this.paths), this.speed);
      await tool.replaceFixtures(fixtures);
      const { length: count } = fixtures.fixtures;
      const was = count === before ? '' : ` (was ${before})`;
      output.notice(`reloaded ${counted(count, 'fixture')}${was}`);
      output.warn([...warnings, ...this.check(fixtures)]);
    } catch (error) {
      output.notice(`reload failed; keeping the previous fixtures: ${reasonOf(error)}`, true);
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n  ');
  return messageOf(error);
}
