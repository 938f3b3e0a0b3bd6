import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { errnoOf } from './errno.js';

/**
 * A path for a temporary file beside `path`. Its name contains the file and the process that made it, so that
 * {@link removeLeftDrafts} finds what a killed process left behind.
 */
export async function draftBeside(path: string): Promise<string> {
  const [pid, born] = (await ownIdentity()).split(' ');
  return join(dirname(path), `${prefixFor(path)}${pid}-${born}-${randomUUID()}.tmp`);
}

/** Removes the temporary files for `path` whose processes are gone. A file that cannot be removed stays. */
export async function removeLeftDrafts(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = prefixFor(path);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid, born] = (name.startsWith(prefix) && MAKER.exec(name.slice(prefix.length))) || [];
    if (pid !== undefined && !(await isAlive(`${pid} ${born}`)))
      await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

const MAKER = /^([1-9]\d{0,9})-(\d*)-[\da-f-]{36}\.tmp$/;

/** Contains the host: in a folder shared by several containers, pids of others mean nothing here. */
function prefixFor(path: string): string {
  const digest = createHash('sha256')
    .update(`${hostname()}\0${basename(path)}`)
    .digest('hex');
  return `.${digest.slice(0, 12)}-`;
}

/** This process as pid and start time. A pid alone is not unique: in containers it is often the same. */
export async function ownIdentity(): Promise<string> {
  return `${process.pid} ${await bornAt(process.pid)}`;
}

/** Whether the process of an {@link ownIdentity} is still running. */
export async function isAlive(identity: string): Promise<boolean> {
  const [pid = '', born = ''] = identity.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') return false;
  }
  return born === (await bornAt(Number(pid)));
}

/** The start of a process in ticks since boot; empty for a zombie and without `/proc`. */
async function bornAt(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? '' : (fields[19] ?? '');
}

interface TakenStream {
  /** Writes to the stream that was taken. */
  readonly stream: Writable;
  readonly release: () => void;
}

/**
 * Takes a stream for one use: everything else written to it, such as `console.log` in user code, goes to `instead`.
 */
export function takeStream(taken: NodeJS.WritableStream, instead: NodeJS.WritableStream): TakenStream {
  const own = Object.getOwnPropertyDescriptor(taken, 'write');
  const write = taken.write.bind(taken);
  Object.defineProperty(taken, 'write', {
    configurable: true,
    writable: true,
    value: instead.write.bind(instead),
  });
  return {
    stream: new Writable({ write: (chunk: Uint8Array, _, done) => void write(chunk, done) }),
    release() {
      if (own) Object.defineProperty(taken, 'write', own);
      else Reflect.deleteProperty(taken, 'write');
    },
  };
}

export interface Clock {
  /** Monotonic milliseconds, so that deadlines survive a change of the system's time. */
  now(): number;
  wall(): Date;
  /** Calls back once after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Node fires a longer timer at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => new Date(),
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      timer = setTimeout(
        () => (left > LONGEST_MS ? wait(left - LONGEST_MS) : callback()),
        Math.min(left, LONGEST_MS),
      );
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};
