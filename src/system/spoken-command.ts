import type { Readable, Writable } from 'node:stream';
import { beforeAnyEnd } from './any-end.js';
import { type CommandOptions, type SpokenToLeader, signalGroup, spawnSpokenTo } from './process-group.js';
import { keepTail } from './tail.js';
import { cameWithin } from './within.js';

/** After its stdin was closed; after SIGTERM; after SIGKILL. */
const LEAVE_MS = 500;
const TERM_MS = 1_500;
const DEATH_MS = 500;

export interface SpokenCommandOptions extends CommandOptions {
  /** Gets what it writes to stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** A command that is talked to over its stdin and stdout. */
export interface SpokenCommand {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of its stderr. */
  readonly stderr: () => string[];
  /** Resolves when it has ended: how, in words. */
  readonly ended: Promise<string>;
  /** Closes its stdin, then terminates it with everything it started, then kills what is left. */
  stop(): Promise<void>;
}

/** Starts a command by a shell. It ends with this process, also by a second signal or SIGQUIT. */
export function startSpokenCommand({ onStderr, ...options }: SpokenCommandOptions): SpokenCommand {
  const child = spawnSpokenTo(options);
  const stderr = keepTail(child.stderr, onStderr);
  child.stdin.on('error', () => {}); // one that has ended reads no more: `ended` says so
  const kill = () => signalGroup(child, 'SIGKILL');
  const forget = beforeAnyEnd(kill);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= end(child).finally(forget);
    return stopped;
  };
  return { stdin: child.stdin, stdout: child.stdout, stderr, ended: endOf(child), stop };
}

function endOf(child: SpokenToLeader): Promise<string> {
  return new Promise(resolve => {
    child.once('error', ({ message }) => resolve(`could not be started: ${message}`));
    // Its last words come before its end.
    child.once('close', (code, signal) => resolve(`ended with ${signal ?? `status ${code}`}`));
    child.once('exit', (code, signal) => {
      void cameWithin(new Promise(closed => child.once('close', closed)), LEAVE_MS).then(() =>
        resolve(`ended with ${signal ?? `status ${code}`}`),
      );
    });
  });
}

/** The pipes close when the last of the group has gone: the leader alone may go first. */
async function end(child: SpokenToLeader): Promise<void> {
  const closed = Promise.all([closing(child.stdout), closing(child.stderr)]);
  child.stdout.resume();
  child.stdin.end();
  if (!(await cameWithin(closed, LEAVE_MS))) {
    signalGroup(child, 'SIGTERM');
    await cameWithin(closed, TERM_MS);
  }
  signalGroup(child, 'SIGKILL');
  await cameWithin(closed, DEATH_MS);
  child.stdout.destroy(); // one that left the group may hold them for ever
  child.stderr.destroy();
  child.stdin.destroy();
}

function closing(stream: Readable): Promise<void> {
  return new Promise(resolve => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}
