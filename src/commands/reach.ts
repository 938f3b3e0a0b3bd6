import type { Exit } from '../system/child.js';
import type { MockTool } from '../tool/mock-tool.js';
import { createNodeClient } from '../transport/node-client.js';
import { demoFixtures } from './demo-fixtures.js';
import type { OnStop } from './interruption.js';
import type { ServerTarget } from './target.js';

/**
 * The URL of a target, brought to life where it is none yet: the demo in this process, a command as a process of its own.
 * What is started is stopped through `onStop`, also where we are interrupted while it starts.
 * @param onDeath told how a command ended that nobody stopped
 * @throws ProtocolCliError `command-failed`.
 */
export async function reach(
  target: ServerTarget,
  onStop: OnStop,
  signal: AbortSignal,
  onDeath?: (how: string) => void,
): Promise<string> {
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
      let isStopping = false;
      onStop(() => {
        isStopping = true;
        return starting.then(
          child => child.stop(),
          () => {},
        );
      });
      const child = await starting;
      void child.exited.then(exit => isStopping || onDeath?.(deathOf(exit, child.lastLines())));
      return child.url;
    }
  }
}

function deathOf({ code, signal }: Exit, lines: readonly string[]): string {
  const said = lines.length === 0 ? 'and said nothing on stderr' : `and said last: ${lines.join(' ␊ ')}`;
  return `the server ended by itself with ${signal ?? `status ${code}`}, ${said}`;
}

/** One call is soon over: what is made for throughput would take longer to load. */
async function startDemo(): Promise<MockTool> {
  const { startMockTool } = await import('../tool/mock-tool.js');
  return startMockTool({ fixtures: await demoFixtures(), client: async () => createNodeClient() });
}
