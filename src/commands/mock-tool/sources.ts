import type { MockToolOptions } from '../../tool/options.js';
import { demoFixtures } from '../demo-fixtures.js';
import type { Terminal } from '../terminal.js';
import { loadFixtures } from './load-fixtures.js';
import type { MockToolFlags } from './plan.js';
import { refuseSpeed } from './recordings.js';

/** What answers, and what is to be said of how it was read. */
export interface Sources extends Pick<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'> {
  readonly warnings?: readonly string[];
}

/** Fixtures, handlers, or both; the demo where nothing is named. @throws ProtocolCliError as reading them does. */
export async function sourcesOf(
  files: readonly string[],
  { handlers: path, speed }: Pick<MockToolFlags, 'handlers' | 'speed'>,
  { cwd, hostsCode }: Pick<Terminal, 'cwd' | 'hostsCode'>,
): Promise<Sources> {
  if (path !== undefined) hostsCode();
  const handlers = path === undefined ? {} : await handlersOf(path, cwd);
  if (files.length > 0) return { ...handlers, ...(await loadFixtures(files, speed)) };
  refuseSpeed(speed);
  return path === undefined ? { fixtures: await demoFixtures() } : handlers;
}

async function handlersOf(path: string, cwd: string) {
  const { loadHandlers } = await import('../../tool/handlers/load-handlers.js');
  return loadHandlers(path, cwd);
}
