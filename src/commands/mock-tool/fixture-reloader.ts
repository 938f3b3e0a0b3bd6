import type { FixtureSet } from '../../fixtures/fixture-set.js';
import type { MockTool } from '../../mock/mock-tool.js';
import { fixtureFiles } from '../../mock/sources.js';
import { pluralize } from '../../render/line.js';
import { watchFiles } from '../../system/watch-files.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import type { LiveOutput } from '../live-output.js';
import { loadFixtures } from './fixtures.js';

/** A mock whose fixtures can be replaced. */
export interface Reloadable extends Pick<MockTool, 'verify'> {
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
   */
  constructor(
    private readonly paths: readonly string[],
    private readonly speed: number | undefined,
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
      output.notice(`reloaded ${pluralize(count, 'fixture')}${was}`);
      output.warn(warnings);
    } catch (error) {
      output.notice(`reload failed; keeping the previous fixtures: ${reasonOf(error)}`, true);
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n  ');
  return messageOf(error);
}
