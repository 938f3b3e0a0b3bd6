import { fixtureFiles } from '../../mock/fixture-files.js';
import { MockTool } from '../../mock/mock-tool.js';
import { humanVerification, VERIFICATION_FORMATS } from '../../render/outputs/verification.js';
import { runAttached } from '../../system/child.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { keepHeapTight, watchFiles } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { writeReports } from '../read-source.js';
import { checkReportFolders } from '../reports.js';
import { type ExitStatus, type Interruption, interruption, type Terminal } from '../terminal.js';
import { loadFixtures } from './load-fixtures.js';
import {
  fixtureWarnings,
  type MockToolFlags,
  type MockToolPlan,
  readPlan,
  type Served,
  type Sources,
  sourcesOf,
  startTelling,
  startWarnings,
  type Telling,
} from './plan.js';
import type { exportFixtures } from './recordings.js';

/** Serves RAP. @throws ProtocolCliError as {@link MockTool.start}. */
async function serveRap(
  plan: MockToolPlan,
  { warnings = [], ...sources }: Sources,
  terminal: Terminal,
): Promise<Served> {
  const tool = await MockTool.start({ ...plan.tool, ...sources });
  return {
    tool,
    env: { TOOL_URL: tool.url },
    warnings: [...warnings, ...startWarnings(plan.flags, tool.url, sources.fixtures)],
    over: new Promise<never>(() => {}),
    tell: () => startTelling(tool, plan, terminal),
    close: () => tool.close(),
    status: () => journalStatus(tool, terminal),
  };
}

/** What was not kept was not acknowledged either; but whoever relies on the journal must hear of it. */
function journalStatus({ journalFailure }: MockTool, { stderr }: Terminal): ExitStatus {
  if (journalFailure) stderr.write(`error: the journal could not be written: ${journalFailure.message}\n`);
  return journalFailure ? 1 : 0;
}

/** Where fixtures are from. */
interface FixtureSource {
  /** Files and folders, as they were named. */
  readonly paths: readonly string[];
  /** Of transcripts. */
  readonly speed?: number | undefined;
}

/** Reads the fixtures again, whoever asks: one reading after the other, since an older one must not win. */
interface Rereading {
  again(): void;
  /** Resolves once what was asked for so far is done. */
  done(): Promise<void>;
}

/** A broken edit keeps the old ones, and says so. */
export function rereading(
  source: FixtureSource,
  tool: Pick<MockTool, 'verify' | 'replaceFixtures'>,
  telling: Pick<Telling, 'notice' | 'warn'>,
): Rereading {
  let reading = Promise.resolve();
  return {
    again() {
      reading = reading.then(() => readAgain(source, tool, telling));
    },
    done: () => reading,
  };
}

async function readAgain(
  { paths, speed }: FixtureSource,
  ...[tool, telling]: [Parameters<typeof rereading>[1], Parameters<typeof rereading>[2]]
): Promise<void> {
  if (paths.length === 0) {
    telling.notice('there are no fixture files to be read again');
    return;
  }
  try {
    const { length: before } = tool.verify().fixtures;
    const { fixtures, warnings } = await loadFixtures(await fixtureFiles(paths), speed);
    await tool.replaceFixtures(fixtures);
    telling.notice(reread(fixtures.fixtures.length, before));
    telling.warn([...warnings, ...fixtureWarnings(fixtures)]);
  } catch (error) {
    telling.notice(`the fixtures are as before: ${reasonOf(error)}`, true);
  }
}

function reread(count: number, before: number): string {
  const was = count === before ? '' : ` (was ${before})`;
  return `${count} fixture${count === 1 ? '' : 's'} read again${was}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n  ');
  return error instanceof Error ? error.message : String(error);
}

/**
 * What was unused, unmatched or undelivered: for people on stderr where it decides, and as the reports that were asked for.
 * Where the command failed, that is said last: its status is the one that counts. A report that cannot be written is said, and hides nothing.
 */
async function tellVerdict(
  tool: Pick<MockTool, 'verify'>,
  { isVerified, reports, command }: MockToolPlan,
  terminal: Terminal,
  commandStatus: number,
): Promise<ExitStatus> {
  const { stderr } = terminal;
  const report = tool.verify();
  if (isVerified) await writeOut(stderr, humanVerification(report));
  if (command && commandStatus !== 0) stderr.write(`✗ the command exited with ${commandStatus}\n`);
  const unwritten = await writeReports(
    reports,
    ({ format }) => VERIFICATION_FORMATS[format](report),
    terminal,
  );
  return isVerified && !report.ok ? 1 : unwritten;
}

/** Fixture files that are watched. */
interface FixtureWatch {
  /** From now on changes are read, those first that came before. */
  serve(rereading: Rereading): void;
  close(): Promise<void>;
}

/**
 * Has the fixtures read again when they change, or when there are more of them in a folder. It watches before the mock is there, so
 * that no edit falls between.
 * @param paths files and folders, as they were named
 * @param files what they were when the fixtures were read
 */
export async function watchFixtures(
  paths: readonly string[],
  files: readonly string[],
): Promise<FixtureWatch> {
  let served: Rereading | null = null;
  let isChanged = false;
  const change = () => {
    isChanged = true;
    served?.again();
  };
  const watcher = await watchFiles(files, change, systemClock, () => fixtureFiles(paths));
  return {
    serve(rereading) {
      served = rereading;
      if (isChanged) rereading.again();
    },
    async close() {
      watcher.close();
      await served?.done();
    },
  };
}

/**
 * `mock-tool`, from the words to the exit status: serves until the command ends, or somebody stops it.
 * Where the command failed, its status is ours.
 */
export async function runMockTool(
  words: readonly string[],
  flags: MockToolFlags,
  terminal: Terminal,
): Promise<number> {
  const plan = readPlan(words, flags, terminal);
  keepHeapTight();
  await checkReportFolders(plan.reports);
  const files = await fixtureFiles(plan.files);
  if (flags.export !== undefined) return writeFixtures(files, flags.export, flags.speed, terminal);
  const sources = await sourcesOf(files, flags, terminal);
  const interrupted = interruption();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const watch = flags.watch ? await watchFixtures(plan.files, files) : null;
    stops.push(async () => watch?.close());
    const served = await serve(plan, sources, terminal);
    stops.splice(0, 0, () => served.close());
    const telling = await served.tell();
    stops.splice(0, 0, () => telling.close()); // to the last: it tells how the tool ends
    telling.warn(served.warnings);
    const reread = rereading({ paths: plan.files, speed: flags.speed }, served.tool, telling);
    stops.push(() => reread.done());
    telling.onReload(reread.again);
    watch?.serve(reread);
    const status = await attend(served, plan, interrupted, telling.quit);
    await stop();
    const verdict = await tellVerdict(served.tool, plan, terminal, status);
    const own = served.status();
    return status || verdict || own;
  } finally {
    await stop();
    interrupted.release();
  }
}

async function writeFixtures(...about: Parameters<typeof exportFixtures>): Promise<ExitStatus> {
  return (await import('./recordings.js')).exportFixtures(...about);
}

async function serve(...about: Parameters<typeof serveRap>): Promise<Served> {
  const [{ mcp }] = about;
  return mcp ? (await import('./mcp/serve.js')).serveMcp(...about) : serveRap(...about);
}

/** Resolves to the command's exit status; 0 where there is none, since to be stopped is a server's normal end. */
async function attend(
  { env, over }: Served,
  { command }: MockToolPlan,
  interrupted: Interruption,
  quit: Promise<void>,
): Promise<number> {
  const stopped = interrupted.signalStatus();
  if (command && stopped !== undefined) return stopped; // it came while we started
  if (command) return runAttached({ argv: command, env });
  const signalled = new Promise<void>(resolve => {
    interrupted.onSignal(resolve);
  });
  await Promise.race([signalled, quit, over]);
  return 0;
}
