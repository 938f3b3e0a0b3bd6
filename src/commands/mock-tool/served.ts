import type { FixtureSet } from '../../fixtures/fixture-set.js';
import type { MockTool } from '../../tool/mock-tool.js';
import type { ExitStatus } from '../exit-status.js';
import type { Telling } from './telling.js';

/** A mock that is up, whichever protocol it speaks. */
export interface Served {
  readonly tool: Pick<MockTool, 'verify'> & { replaceFixtures(fixtures: FixtureSet): Promise<void> };
  /** How a command after `--` finds it. */
  readonly env: Readonly<Record<string, string>>;
  /** What a person should know at the start, though nothing is wrong. */
  readonly warnings: readonly string[];
  /** Resolves when nobody is left to be served; never where somebody may still come. */
  readonly over: Promise<void>;
  /** Says where it is reached, and then what happens. */
  tell(): Promise<Telling>;
  close(): Promise<void>;
  /** Once it is closed: other than 0 where something went wrong with the mock itself. */
  status(): ExitStatus;
}
