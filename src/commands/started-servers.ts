import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event, Fact } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import type { Log } from '../events/log.js';
import { createNodeClient } from '../http/node-client.js';
import { finishedWithin } from '../system/clock.js';
import type { Exit } from '../system/exit.js';
import type { Sink } from '../system/streams.js';
import { joinFirst, truncate } from '../util/text.js';
import { visible } from '../util/visible.js';
import { usageError } from './options.js';
import { type ConfiguredTarget, demoFixtures, type StartedTarget } from './target.js';
import type { OnStop } from './terminal.js';

/** The exit of a started server that was not stopped. */
export interface ServerExit {
  /** `exited with status 3` */
  readonly how: string;
  /** The last lines of its stderr. */
  readonly lastLines: readonly string[];
}

interface StartedCommand {
  readonly exited: Promise<unknown>;
  readonly lastLines: () => readonly string[];
}

interface ReachOptions {
  /** Registers how to stop a started server, even while it is starting. */
  readonly onStop: OnStop;
  /** Ends the wait for a server to become ready. */
  readonly signal: AbortSignal;
  readonly onStarted?: (command: StartedCommand) => void;
  readonly onServerExit?: (exit: ServerExit) => void;
  /** Receives what a started server writes to stderr, in whole lines, so that a secret is not cut in two. */
  readonly onStderr?: Sink;
  /** Receives warnings about a toolset that was only partly loaded. */
  readonly onWarning?: (message: string) => void;
  /** Receives remarks about a server that is starting. */
  readonly onRemark?: (message: string) => void;
}

/**
 * Returns the URL of a tool server. The demo and MCP servers are served from this process; a command is started.
 * @throws ProtocolCliError `command-failed`; for an MCP server also `unreachable` and `no-discovery`.
 */
export async function startTarget(
  target: ConfiguredTarget,
  { onStderr, ...options }: ReachOptions,
): Promise<string> {
  const lines = onStderr && byLine(onStderr);
  if (lines) options.onStop(async () => lines.end()); // after the server has stopped
  const output = lines && { onStderr: lines.add };
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
      return (await import('./mcp-toolset.js')).startMcpToolset(target.name, target.server, {
        ...options,
        ...output,
      });
    case 'command':
      return startServer(target, { ...options, ...output });
  }
}

/** The pause between two requests that find out whether a server answers, in ms. */
const POLL_MS = 100;

/** @throws ProtocolCliError `usage` if another server answers at the URL already, `command-failed` */
async function startServer(
  { command, cwd, url, readyWithinMs }: StartedTarget,
  { onStop, signal, onStarted, onServerExit, onStderr, onRemark }: ReachOptions,
): Promise<string> {
  if (url !== undefined && (await answersAt(url, signal)))
    throw usageError(
      `${url} answers before --command was started`,
      'Stop the server that runs there, or leave out --command to use it.',
    );
  const { startCommand } = await import('../system/start-command.js');
  const starting = startCommand({
    command,
    signal,
    ...(cwd !== undefined && { cwd }),
    ...(url !== undefined && { answering: waiting => untilAnswering(url, waiting) }),
    ...(readyWithinMs !== undefined && { readyWithinMs }),
    ...(onStderr && { onStderr }),
    ...(onRemark && { onRemark }),
  });
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
    if (!isStopping) onServerExit?.({ how: exitText(exit), lastLines: child.lastLines() });
  });
  return child.url;
}

/** A shell that runs the command reports a signal as 128 and its number. */
function exitText({ code, signal }: Exit): string {
  if (signal !== null) return `was ended by ${signal}`;
  const [name] = Object.entries(constants.signals).find(([, number]) => code === 128 + number) ?? [];
  return `exited with status ${code}${name === undefined ? '' : ` (${name})`}`;
}

/** Whether a server gives any answer at this URL. */
async function answersAt(url: string, signal: AbortSignal): Promise<boolean> {
  const client = createNodeClient();
  try {
    await client.send({ method: 'GET', url, read: 'nothing', timeoutMs: MAX_ANSWER_MS, signal });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

const MAX_ANSWER_MS = 2_000;

async function untilAnswering(url: string, signal: AbortSignal): Promise<string> {
  while (!signal.aborted && !(await answersAt(url, signal))) await pause(POLL_MS, signal);
  return url;
}

/** Ends early, and does not reject, if the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {});
}

const MAX_LINE_LENGTH = 16 * 1024;

/** Passes text on in whole lines. `end` passes on an unfinished line. */
interface LineSink {
  readonly add: Sink;
  end(): void;
}

function byLine(write: Sink): LineSink {
  let rest = '';
  const passTo = async (end: number) => {
    const lines = rest.slice(0, end);
    rest = rest.slice(end);
    if (lines !== '') await write(lines);
  };
  return {
    add(text) {
      rest += text;
      return passTo(rest.length > MAX_LINE_LENGTH ? rest.length : rest.lastIndexOf('\n') + 1);
    },
    end: () => void passTo(rest.length),
  };
}

/** As {@link byLine}, for printing: each line is safe, and marked with the name of the server. */
export function serverOutput(write: Sink, name?: string): LineSink {
  return byLine(text => write(marked(text, name)));
}

function marked(text: string, name = 'server'): string {
  return visible(text.trimEnd().replaceAll('\r\n', '\n'))
    .split('\n')
    .map(line => `${name}: ${line}\n`)
    .join('');
}

/** How long a server may take to exit after its connection broke, in ms. */
const EXIT_MS = 300;

interface Watcher {
  calls(): Iterable<Exchange>;
  /** Receives whole lines of stderr, each marked as the server's. */
  readonly onStderr: Sink | null;
}

interface LastMessage {
  readonly text: string;
  readonly answered?: string | undefined;
}

/** Watches the servers started by a command, and records when one exits: its pending calls end. */
export class StartedServers {
  /** The last message, and the key of the call whose callback it answered. */
  #last: LastMessage = { text: '' };
  #isSuspect = false;
  /** The legs of the open requests to a tool. */
  readonly #toTool = new Set<string>();
  readonly #started: StartedCommand[] = [];
  /** The callbacks for {@link startTarget}. */
  readonly options: Pick<ReachOptions, 'onStarted' | 'onServerExit' | 'onStderr'>;

  constructor(
    private readonly log: Log,
    private readonly watcher: Watcher,
  ) {
    const { onStderr } = watcher;
    log.subscribe(event => this.#follow(event));
    this.options = {
      onStarted: command => void this.#started.push(command),
      onServerExit: exit => this.#onServerExit(exit),
      ...(onStderr && { onStderr: lines => onStderr(marked(lines)) }),
    };
  }

  /** Waits briefly for a server whose connection broke: it may be exiting. */
  async settle(): Promise<void> {
    const exits = this.#started.map(({ exited }) => exited);
    if (this.#isSuspect && exits.length > 0) await finishedWithin(Promise.race(exits), EXIT_MS);
  }

  /** The last lines that the servers wrote to stderr until now. */
  lastLines(): readonly string[] {
    return this.#started.flatMap(({ lastLines }) => lastLines());
  }

  #onServerExit(exit: ServerExit): void {
    const calls = [...this.watcher.calls()];
    const { text, answered } = this.#last;
    const call = calls.find(({ key }) => key === answered);
    const last = call ? ` after a callback of ${nameOf(call)}${text}` : text;
    const pending = calls.filter(({ settled }) => settled === null);
    this.log.emit(exitFact(exit, pending, last));
  }

  /** Remembers the last message to a tool, or the last answer. */
  #follow(event: Event): void {
    if (event.kind === 'request' && event.to === 'tool') {
      this.#toTool.add(event.leg);
      const path = URL.canParse(event.url) ? new URL(event.url).pathname : event.url;
      this.#last = { text: ` after ${event.method} ${path}` };
    } else if (event.kind === 'response' || event.kind === 'broken') {
      const isFromTool = this.#toTool.delete(event.leg);
      if (event.kind === 'broken') this.#isSuspect ||= event.code !== 'ABORTED';
      else if (!isFromTool)
        this.#last = { text: ` was answered with ${event.status}`, answered: event.calls?.[0] };
    }
  }
}

/** Limits: operations that are named, and the length of a name. */
const MAX_NAMED = { count: 3, length: 60 };

function nameOf({ invocation: { operation } }: Exchange): string {
  return `\`${truncate(operation, MAX_NAMED.length)}\``;
}

/** @param last the last message, which is named if no call is pending */
export function exitFact(
  { how, lastLines }: ServerExit,
  pending: readonly Exchange[],
  last = '',
): Extract<Fact, { kind: 'exited' }> {
  const arrived = pending.filter(({ attempts }) => attempts.some(each => each.broken?.phase !== 'connect'));
  const names = [...new Set(arrived.map(nameOf))];
  const during = ` during ${names.length === 1 ? '' : 'one of '}${joinFirst(names, MAX_NAMED.count)}`;
  return {
    kind: 'exited',
    how,
    message: `the server ${how}${names.length === 0 ? last : during}`,
    output: [...lastLines],
    ...(pending.length > 0 && { calls: pending.map(({ key }) => key) }),
  };
}
