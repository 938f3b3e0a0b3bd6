import { ProtocolCliError } from '../../errors.js';
import { fixtureFiles } from '../../tool/fixture-files.js';
import type { MockTool } from '../../tool/mock-tool.js';
import { loadFixtures } from './load-fixtures.js';
import type { Telling } from './telling.js';
import { fixtureWarnings } from './warnings.js';

/** Where fixtures are from. */
export interface FixtureSource {
  /** Files and folders, as they were named. */
  readonly paths: readonly string[];
  /** Of transcripts. */
  readonly speed?: number | undefined;
}

/** Reads the fixtures again, whoever asks: one reading after the other, since an older one must not win. */
export interface Rereading {
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
