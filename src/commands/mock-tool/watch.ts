import { systemClock } from '../../system/clock.js';
import { watchFiles } from '../../system/watch-files.js';
import { fixtureFiles } from '../../tool/fixture-files.js';
import type { Rereading } from './reread.js';

/** Fixture files that are watched. */
export interface FixtureWatch {
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
