import { ProtocolCliError } from '../../errors.js';
import { systemClock } from '../../system/clock.js';
import { watchFiles } from '../../system/watch-files.js';
import type { MockTool } from '../../tool/mock-tool.js';
import { fixtureFiles } from './fixture-files.js';
import { loadFixtures } from './load-fixtures.js';
import type { Telling } from './telling.js';
import { fixtureWarnings } from './warnings.js';

/** Fixture files that are watched. */
export interface FixtureWatch {
  /** From now on changes are read, those first that came before. */
  serve(tool: Pick<MockTool, 'verify' | 'replaceFixtures'>, telling: Pick<Telling, 'notice' | 'warn'>): void;
  close(): Promise<void>;
}

/**
 * Reads the fixtures again when they change, or when there are more of them in a folder; a broken edit keeps the old ones and
 * says so. It watches before the mock is there, so that no edit falls between.
 * @param paths files and folders, as they were named
 * @param files what they were when the fixtures were read
 * @param speed of transcripts
 */
export async function watchFixtures(
  paths: readonly string[],
  files: readonly string[],
  speed?: number,
): Promise<FixtureWatch> {
  let beginReading: (reload: () => Promise<void>) => void = () => {};
  const reading = new Promise<() => Promise<void>>(resolve => {
    beginReading = resolve;
  });
  let reloading = Promise.resolve(); // one after the other: an older reading must not win
  const change = () => {
    void reading.then(reload => {
      reloading = reloading.then(reload);
    });
  };
  const watcher = await watchFiles(files, change, systemClock, () => fixtureFiles(paths));
  return {
    serve: (tool, telling) => beginReading(() => readAgain({ paths, speed }, tool, telling)),
    async close() {
      watcher.close();
      await reloading;
    },
  };
}

async function readAgain(
  { paths, speed }: { readonly paths: readonly string[]; readonly speed: number | undefined },
  ...[tool, telling]: Parameters<FixtureWatch['serve']>
): Promise<void> {
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
