import type { MockTool } from '../tool/mock-tool.js';
import { createNodeClient } from '../transport/node-client.js';
import { demoFixtures } from './demo-fixtures.js';
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
      const tool = await startDemo();
      onStop(() => tool.close({ drainMs: 0 }));
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

/** One call is soon over: what is made for throughput would take longer to load. */
async function startDemo(): Promise<MockTool> {
  const { startMockTool } = await import('../tool/mock-tool.js');
  return startMockTool({ fixtures: await demoFixtures(), client: async () => createNodeClient() });
}
