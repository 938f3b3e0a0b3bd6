import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Group, LAST_OUTPUT_MS } from '../../system/child.js';
import { finishedWithin } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { ObservedLines } from './lines.js';
import { MessageReader } from './message-reader.js';
import type { McpObserver } from './observer.js';

interface StdioRelay {
  /**
   * Resolves to the exit status of the server, as a shell reports it, once all of its output is passed on.
   * @throws ProtocolCliError `usage` if it could not be started
   */
  readonly ended: Promise<number>;
  /** Closes its stdin, then terminates it and its descendants, then kills what is left. */
  stop(): Promise<void>;
}

interface RelayOptions {
  /** The program and its arguments, which no shell reads. */
  readonly command: readonly string[];
  /** The ends of the client. Nothing else may write to `stdout`. */
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Takes the stderr of the server. */
  readonly onStderr: Sink;
  readonly observer: McpObserver;
  /** The longest line that is recorded, in bytes; longer ones are passed on as well. */
  readonly maxBytes: number;
}

/** A client kills us a second after its SIGTERM, or later; until then, the server must have ended. */
const STOPS = [
  ['stdin', 100],
  ['SIGTERM', 700],
] as const;

/**
 * Starts an MCP server between a client and us (MCP, "stdio"). Bytes are passed on in both directions before they are read, whatever they
 * are, and as fast as the other side takes them. The client's end of stdin is that of the server.
 */
export function startStdioRelay(options: RelayOptions): StdioRelay {
  const { command, stdin, stdout, onStderr, observer, maxBytes } = options;
  const group = new Group({ command, onStderr });
  const server = group.child;
  const connection = observer.connection();
  const messages = new MessageReader(observer, connection, maxBytes);
  const sent = new ObservedLines('client', messages);
  const received = new ObservedLines('tool', messages);
  // Each pipe is the first listener, so that it passes a chunk on before the chunk is read.
  stdin.pipe(server.stdin);
  stdin.on('data', sent.add);
  server.stdout.pipe(stdout, { end: false });
  server.stdout.on('data', received.add);
  const finish = async () => {
    const { code, signal } = await group.exited;
    stdin.unpipe(server.stdin).off('data', sent.add).pause();
    await passedOn(server.stdout, stdout);
    for (const lines of [sent, received]) lines.end();
    connection.end('ENDED');
    if (group.problem !== null) throw notStarted(command, group.problem);
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  };
  return { ended: finish(), stop: () => group.stop(STOPS) };
}

/** Resolves when all output is written. A process that the server left running may keep the pipe open, so this waits only a moment. */
async function passedOn(from: Readable, to: Writable): Promise<void> {
  const ended = from.closed ? Promise.resolve() : once(from, 'close');
  while (!(await finishedWithin(ended, LAST_OUTPUT_MS)) && to.writableNeedDrain && !to.destroyed);
  if (!to.destroyed) await new Promise(resolve => void to.write('', resolve));
}

function notStarted([program = '']: readonly string[], problem: string): ProtocolCliError {
  return new ProtocolCliError('usage', `the command "${program}" did not start: ${problem}`, {
    hint: 'After -- comes the program of an MCP server and its arguments.',
  });
}
