import type { Exit, RunningCommand } from '../system/child.js';
import type { OnStop } from './interruption.js';
import type { ConfiguredTarget } from './target.js';

/** A started server that exited without being stopped. */
export interface Death {
  /** `exited with status 3` */
  readonly how: string;
  /** The last lines of its stderr. */
  readonly lastLines: readonly string[];
}

export interface ReachOptions {
  /** Takes what stops a started server, also one that is still starting. */
  readonly onStop: OnStop;
  /** Ends the wait for a server to get ready. */
  readonly signal: AbortSignal;
  readonly onStarted?: (command: Pick<RunningCommand, 'exited'>) => void;
  readonly onDeath?: (death: Death) => void;
  /** Receives what a started server writes to stderr. */
  readonly onStderr?: (text: string) => void;
  /** Receives warnings about a toolset that could only be loaded in part. */
  readonly onWarning?: (message: string) => void;
}

/**
 * Starts a command that serves a toolset. Returns its URL.
 * @throws ProtocolCliError `command-failed`.
 */
export async function startServer(
  { command, cwd }: Extract<ConfiguredTarget, { kind: 'command' }>,
  { onStop, signal, onStarted, onDeath, onStderr }: ReachOptions,
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
    if (!isStopping) onDeath?.({ how: exitText(exit), lastLines: child.lastLines() });
  });
  return child.url;
}

/** One sentence about it, with its last output. */
export function deathText({ how, lastLines }: Death): string {
  const output =
    lastLines.length === 0 ? 'It wrote nothing to stderr' : `Last output: ${lastLines.join(' ␊ ')}`;
  return `the server ${how}. ${output}`;
}

function exitText({ code, signal }: Exit): string {
  return signal === null ? `exited with status ${code}` : `was ended by ${signal}`;
}
