import { runAttached } from '../../system/attached-command.js';
import { keepHeapTight } from '../../system/tight-heap.js';
import { MockTool } from '../../tool/mock-tool.js';
import type { MockToolOptions } from '../../tool/options.js';
import { demoFixtures } from '../demo-fixtures.js';
import type { ExitStatus } from '../exit-status.js';
import { type Interruption, interruption } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { fixtureFiles } from './fixture-files.js';
import { loadFixtures } from './load-fixtures.js';
import { type MockToolFlags, type MockToolPlan, readPlan } from './plan.js';
import { checkReportFolders } from './report-option.js';
import { startTelling } from './telling.js';
import { tellVerdict } from './verdict.js';
import { startWarnings } from './warnings.js';
import { watchFixtures } from './watch.js';

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
  const sources = await sourcesOf(files, flags, terminal);
  const interrupted = interruption();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const watch = flags.watch ? await watchFixtures(plan.files, files) : null;
    stops.push(async () => watch?.close());
    const tool = await MockTool.start({ ...plan.tool, ...sources });
    stops.splice(0, 0, () => tool.close());
    const telling = await startTelling(tool, plan, terminal);
    stops.splice(0, 0, () => telling.close()); // to the last: it tells how the tool ends
    telling.warn(startWarnings(flags, tool.url, sources.fixtures));
    watch?.serve(tool, telling);
    const status = await serve(tool, plan, interrupted, telling.quit);
    await stop();
    const verdict = await tellVerdict(tool, plan, terminal, status);
    const kept = journalStatus(tool, terminal);
    return status || verdict || kept;
  } finally {
    await stop();
    interrupted.release();
  }
}

/** Resolves to the command's exit status; 0 where there is none, since to be stopped is a server's normal end. */
async function serve(
  { url }: MockTool,
  { command }: MockToolPlan,
  interrupted: Interruption,
  quit: Promise<void>,
): Promise<number> {
  const stopped = interrupted.signalStatus();
  if (command && stopped !== undefined) return stopped; // it came while we started
  if (command) return runAttached({ argv: command, env: { TOOL_URL: url } });
  const signalled = new Promise<void>(resolve => {
    interrupted.onSignal(resolve);
  });
  await Promise.race([signalled, quit]);
  return 0;
}

/** What was not kept was not acknowledged either; but whoever relies on the journal must hear of it. */
function journalStatus({ journalFailure }: MockTool, { stderr }: Terminal): ExitStatus {
  if (journalFailure) stderr.write(`error: the journal could not be written: ${journalFailure.message}\n`);
  return journalFailure ? 1 : 0;
}

async function sourcesOf(
  files: readonly string[],
  { handlers: path }: MockToolFlags,
  { cwd, hostsCode }: Terminal,
): Promise<Pick<MockToolOptions, 'fixtures' | 'handlers'>> {
  if (path !== undefined) hostsCode();
  const handlers = path === undefined ? {} : { handlers: await handlersOf(path, cwd) };
  if (files.length > 0) return { ...handlers, fixtures: await loadFixtures(files) };
  return path === undefined ? { fixtures: await demoFixtures() } : handlers;
}

async function handlersOf(path: string, cwd: string) {
  const { loadHandlers } = await import('../../tool/handlers/load-handlers.js');
  return loadHandlers(path, cwd);
}
