import { runAttached } from '../../system/attached-command.js';
import { keepHeapTight } from '../../system/tight-heap.js';
import { fixtureFiles } from '../../tool/fixture-files.js';
import type { ExitStatus } from '../exit-status.js';
import { type Interruption, interruption } from '../interruption.js';
import { checkReportFolders } from '../reports.js';
import type { Terminal } from '../terminal.js';
import type { exportFixtures } from './export.js';
import { type MockToolFlags, type MockToolPlan, readPlan } from './plan.js';
import { serveRap } from './rap.js';
import { rereading } from './reread.js';
import type { Served } from './served.js';
import { sourcesOf } from './sources.js';
import { tellVerdict } from './verdict.js';
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
  return (await import('./export.js')).exportFixtures(...about);
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
