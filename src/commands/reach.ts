import type { Event } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import type { Log } from '../events/log.js';
import { createNodeClient } from '../http/node-client.js';
import type { Warning } from '../protocol/requirements.js';
import type { Trouble } from '../render/outputs/trouble.js';
import { cameWithin } from '../system/process.js';
import { visible } from '../util/visible.js';
import { type ConfiguredTarget, demoFixtures, type ReachOptions, type ServerExit } from './target.js';

/**
 * Returns the URL of a tool server. The demo and MCP servers are served from this process; a command is started.
 * @throws ProtocolCliError `command-failed`; for an MCP server also `unreachable` and `no-discovery`.
 */
export async function reach(target: ConfiguredTarget, options: ReachOptions): Promise<string> {
  switch (target.kind) {
    case 'url':
      return target.url;
    case 'demo': {
      const { startMockTool } = await import('../mock/mock-tool.js');
      const client = async () => createNodeClient(); // loads faster; throughput does not matter for one call
      const tool = await startMockTool({ fixtures: await demoFixtures(), client });
      options.onStop(() => tool.close({ drainMs: 0 }));
      return tool.url;
    }
    case 'mcp':
      return (await import('./mcp-toolset.js')).startMcpToolset(target, options);
    case 'command':
      return startServer(target, options);
  }
}

async function startServer(
  { command, cwd }: Extract<ConfiguredTarget, { kind: 'command' }>,
  { onStop, signal, onStarted, onServerExit, onStderr }: ReachOptions,
): Promise<string> {
  const { startCommand } = await import('../system/child.js');
  const place = cwd === undefined ? {} : { cwd };
  const starting = startCommand({ command, signal, ...place, ...(onStderr && { onStderr }) });
  let isStopping = false;
  onStop(() => {
    isStopping = true;
    return starting.then(
      child => child.stop(),
      () => {},
    );
  });
  const child = await starting;
  onStarted?.(child);
  void child.exited.then(exit => {
    const how = exit.signal === null ? `exited with status ${exit.code}` : `was ended by ${exit.signal}`;
    if (!isStopping) onServerExit?.({ how, lastLines: child.lastLines() });
  });
  return child.url;
}

/** Describes an exit in one sentence, with the last output. */
export function exitText({ how, lastLines }: ServerExit): string {
  const output =
    lastLines.length === 0 ? 'It wrote nothing to stderr' : `Last output: ${lastLines.join(' ␊ ')}`;
  return `the server ${how}. ${output}`;
}

/** Formats a server's stderr output for printing, marked as the server's. */
export function serverLines(text: string): string {
  return visible(text.trimEnd())
    .split('\n')
    .map(line => `server: ${line}\n`)
    .join('');
}

const MAX_LINE_LENGTH = 16 * 1024;

/** Splits text into whole lines, so that a secret is not cut in two. `end` passes on an unfinished line. */
export function byLine(write: (lines: string) => void): { add(text: string): void; end(): void } {
  let rest = '';
  const passTo = (end: number) => {
    if (end > 0) write(rest.slice(0, end));
    rest = rest.slice(end);
  };
  return {
    add(text) {
      rest += text;
      passTo(rest.length > MAX_LINE_LENGTH ? rest.length : rest.lastIndexOf('\n') + 1);
    },
    end: () => passTo(rest.length),
  };
}

/** How long a server may take to exit after its connection broke, in ms. */
const EXIT_MS = 300;

/**
 * Watches the servers started by a command. When one exits, its pending calls end, with the previous message as context; a later exit,
 * such as after a notice, is a warning.
 */
export class StartedServers {
  readonly warnings: Warning[] = [];
  #last = '';
  #isSuspect = false;
  readonly #tools = new Set<string>();
  readonly #exits: Promise<unknown>[] = [];
  /** The last output of a server that exited with calls pending. */
  #lastOutput: readonly string[] = [];

  /** @param onStderr receives whole lines, each marked as the server's */
  constructor(
    private readonly log: Log,
    private readonly calls: () => Iterable<Exchange>,
    private readonly onStderr: ((lines: string) => void) | null,
  ) {
    log.subscribe(event => this.#follow(event));
  }

  /** Returns the callbacks for {@link reach}. */
  get options(): Pick<ReachOptions, 'onStarted' | 'onServerExit' | 'onStderr'> {
    const { onStderr } = this;
    const lines = onStderr && byLine(text => onStderr(serverLines(text)));
    return {
      onStarted: ({ exited }) => void this.#exits.push(exited.then(() => lines?.end())),
      onServerExit: exit => this.#onServerExit(exit),
      ...(lines && { onStderr: lines.add }),
    };
  }

  /** If a failure was caused by a server's exit, adds the server's last output. */
  explain(failure: Trouble | null): Trouble | null {
    return failure && this.#lastOutput.length > 0 ? { ...failure, faults: this.#lastOutput } : failure;
  }

  /** Waits briefly for a server whose connection broke: it may be exiting. */
  async settle(): Promise<void> {
    if (this.#isSuspect && this.#exits.length > 0) await cameWithin(Promise.race(this.#exits), EXIT_MS);
  }

  #onServerExit({ how, lastLines }: ServerExit): void {
    const exit = { how: `${how}${this.#last}`, lastLines };
    const pending = [...this.calls()].filter(({ settled }) => settled === null).map(({ key }) => key);
    if (pending.length === 0) this.warnings.push({ message: exitText(exit) });
    else this.#lastOutput = lastLines;
    const value = `the server ${exit.how}`;
    for (const key of pending)
      this.log.emit({ kind: 'decided', what: 'give-up', by: 'policy', value, calls: [key] });
  }

  /** Remembers the last message to a tool, or the last answer. */
  #follow(event: Event): void {
    if (event.kind === 'request' && event.to === 'tool') {
      this.#tools.add(event.leg);
      const path = URL.canParse(event.url) ? new URL(event.url).pathname : event.url;
      this.#last = ` after ${event.method} ${path}`;
    } else if (event.kind === 'response' && !this.#tools.has(event.leg))
      this.#last = ` after its callback was answered with ${event.status}`;
    else if (event.kind === 'broken') this.#isSuspect = true;
  }
}
