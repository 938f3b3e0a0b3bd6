import { fixtureFiles } from '../../mock/fixture-files.js';
import { MockTool } from '../../mock/mock-tool.js';
import { humanVerification, VERIFICATION_FORMATS } from '../../render/outputs/verification.js';
import { systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/process.js';
import { writeOut } from '../../system/streams.js';
import { watchFiles } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { checkReportFolders, writeReports } from '../reports.js';
import { commandFailure, type LiveOutput, NEVER, runServer } from '../run-server.js';
import { demoFixtures } from '../target.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { exportFixtures, loadFixtures, refuseSpeed } from './fixtures.js';
import {
  fixtureWarnings,
  type Reloadable,
  type RunningMock,
  type Sources,
  startOutput,
  startWarnings,
} from './output.js';
import { type MockToolFlags, type MockToolPlan, readPlan } from './plan.js';

/** Runs `mock-tool`. Returns the exit status. */
export async function runMockTool(
  words: readonly string[],
  flags: MockToolFlags,
  terminal: Terminal,
): Promise<number> {
  const plan = readPlan(words, flags, terminal);
  keepHeapTight();
  await checkReportFolders(plan.reports);
  const files = await fixtureFiles(plan.files);
  if (flags.export !== undefined) return exportFixtures(files, flags.export, flags.speed, terminal);
  const sources = await sourcesOf(files, flags, terminal);
  return runServer(plan.command, async onClose => {
    const reloader = new FixtureReloader(plan.files, flags.speed);
    onClose(() => reloader.close());
    if (flags.watch) await reloader.watch(files);
    const mock = await start(plan, sources, terminal);
    onClose(() => mock.close());
    const output = await mock.startOutput(() => reloader.reload());
    onClose(() => output.close());
    output.warn(mock.warnings);
    reloader.attach(mock.tool, output);
    return {
      env: mock.env,
      quit: Promise.race([output.quit, mock.over]),
      verify: async commandStatus => {
        const verified = await verify(mock.tool, plan, terminal, commandStatus);
        const status = mock.status();
        return verified || status;
      },
    };
  });
}

/** Reads fixtures, handlers, or both; the demo without either. @throws ProtocolCliError as reading them does. */
async function sourcesOf(
  files: readonly string[],
  { handlers: path, speed }: MockToolFlags,
  { cwd, hostsCode }: Terminal,
): Promise<Sources> {
  if (path !== undefined) hostsCode();
  const handlers =
    path === undefined ? {} : await (await import('../../mock/load-handlers.js')).loadHandlers(path, cwd);
  if (files.length > 0) return { ...handlers, ...(await loadFixtures(files, speed)) };
  refuseSpeed(speed);
  return path === undefined ? { fixtures: await demoFixtures() } : handlers;
}

async function start(plan: MockToolPlan, sources: Sources, terminal: Terminal): Promise<RunningMock> {
  if (plan.mcp === null) return startRap(plan, sources, terminal);
  const { serveMcp } = await import('./mcp/serve.js');
  return serveMcp(plan, sources, terminal);
}

/** @throws ProtocolCliError as {@link MockTool.start}. */
async function startRap(
  plan: MockToolPlan,
  { warnings = [], ...sources }: Sources,
  terminal: Terminal,
): Promise<RunningMock> {
  const tool = await MockTool.start({ ...plan.tool, ...sources });
  return {
    tool,
    env: { TOOL_URL: tool.url },
    warnings: [...warnings, ...startWarnings(plan.flags, tool.url, sources.fixtures)],
    over: NEVER,
    startOutput: reload => startOutput(tool, plan, terminal, reload),
    close: () => tool.close(),
    status() {
      if (!tool.journalFailure) return 0;
      terminal.stderr.write(`error: the journal could not be written: ${tool.journalFailure.message}\n`);
      return 1;
    },
  };
}

/** Reads the fixtures again when a file changes or the user asks: one reading at a time, so that the last one wins. */
export class FixtureReloader {
  #reading = Promise.resolve();
  #watcher: { close(): void } | null = null;
  #isChanged = false;
  #reload: (() => Promise<void>) | null = null;

  /** @param paths files and folders of the command line; @param speed of transcripts */
  constructor(
    private readonly paths: readonly string[],
    private readonly speed?: number,
  ) {}

  /** Must start before the mock does, so that no edit is missed. @param files those that were read */
  async watch(files: readonly string[]): Promise<void> {
    const onChange = () => {
      this.#isChanged = true;
      this.reload();
    };
    this.#watcher = await watchFiles(files, onChange, systemClock, () => fixtureFiles(this.paths));
  }

  /** From now on changes are applied, also those that came before. */
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
      output.notice(`reloaded ${count} fixture${count === 1 ? '' : 's'}${was}`);
      output.warn([...warnings, ...fixtureWarnings(fixtures)]);
    } catch (error) {
      output.notice(`reload failed; keeping the previous fixtures: ${reasonOf(error)}`, true);
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n  ');
  return error instanceof Error ? error.message : String(error);
}

/** Prints the verification to stderr and writes the reports. */
async function verify(
  tool: Pick<MockTool, 'verify'>,
  { isVerified, reports }: MockToolPlan,
  terminal: Terminal,
  commandStatus: number,
): Promise<ExitStatus> {
  const report = tool.verify();
  if (isVerified) await writeOut(terminal.stderr, humanVerification(report));
  terminal.stderr.write(commandFailure(commandStatus));
  const status = await writeReports(reports, ({ format }) => VERIFICATION_FORMATS[format](report), terminal);
  return isVerified && !report.ok ? 1 : status;
}
