import { readFile } from 'node:fs/promises';
import { shippedFile } from '../package-root.js';
import type { ServerTarget } from './target.js';

/** A tool that can be called now, and how to end what was started for that. */
export interface Reached {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Brings a target to life where it is not a URL yet: the demo in this process, a command as a process of its own.
 * @throws ProtocolCliError `command-failed`.
 */
export async function reach(target: ServerTarget): Promise<Reached> {
  switch (target.kind) {
    case 'url':
      return { url: target.url, stop: async () => {} };
    case 'demo': {
      const { startFixtureTool } = await import('../tool/fixture-tool.js');
      const tool = await startFixtureTool(
        JSON.parse(await readFile(shippedFile('fixtures/demo.json'), 'utf8')),
      );
      return { url: tool.url, stop: () => tool.close() };
    }
    case 'command': {
      const { startCommand } = await import('../system/child.js');
      const child = await startCommand({ command: target.command });
      return { url: child.url, stop: () => child.stop() };
    }
  }
}
