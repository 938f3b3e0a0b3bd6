import { readFile } from 'node:fs/promises';
import { shippedFile } from '../package-root.js';
import type { OnStop } from './interruption.js';
import type { ServerTarget } from './target.js';

/**
 * The URL of a target, brought to life where it is none yet: the demo in this process, a command as a process of its own.
 * What is started is stopped through `onStop`, also where we are interrupted while it starts.
 * @throws ProtocolCliError `command-failed`.
 */
export async function reach(target: ServerTarget, onStop: OnStop, signal: AbortSignal): Promise<string> {
  switch (target.kind) {
    case 'url':
      return target.url;
    case 'demo': {
      const { startFixtureTool } = await import('../tool/fixture-tool.js');
      const tool = await startFixtureTool(
        JSON.parse(await readFile(shippedFile('fixtures/demo.json'), 'utf8')),
      );
      onStop(() => tool.close());
      return tool.url;
    }
    case 'command': {
      const { startCommand } = await import('../system/child.js');
      const starting = startCommand({ command: target.command, signal });
      onStop(() =>
        starting.then(
          child => child.stop(),
          () => {},
        ),
      );
      return (await starting).url;
    }
  }
}
