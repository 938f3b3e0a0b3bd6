import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../util/errors.js';

/** A process. A pid alone is not unique: containers often reuse the same one. */
interface Maker {
  readonly pid: number;
  /** When it started, see {@link startOf}. */
  readonly start: string;
}

/**
 * Returns a new path for a temporary file beside `path`, and first removes the ones whose processes were killed. The name contains the
 * process, so that the next one finds it.
 */
export async function newDraftPath(path: string): Promise<string> {
  await removeLeftDrafts(path);
  const { pid } = process;
  return join(dirname(path), `${prefixFor(path)}${pid}-${await startOf(pid)}-${randomUUID()}.tmp`);
}

async function removeLeftDrafts(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = prefixFor(path);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const maker = name.startsWith(prefix) ? makerIn(name.slice(prefix.length)) : null;
    if (maker && !(await isAlive(maker))) await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

/** Contains the host: in a folder shared by several containers, their pids are unrelated. */
function prefixFor(path: string): string {
  const digest = createHash('sha256')
    .update(`${hostname()}\0${basename(path)}`)
    .digest('hex');
  return `.${digest.slice(0, 12)}-`;
}

const AFTER_PREFIX = /^([1-9]\d{0,9})-(\d*)-[\da-f-]{36}\.tmp$/;

function makerIn(name: string): Maker | null {
  const [, pid, start] = AFTER_PREFIX.exec(name) ?? [];
  return pid === undefined || start === undefined ? null : { pid: Number(pid), start };
}

async function isAlive({ pid, start }: Maker): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') return false;
  }
  return start === (await startOf(pid));
}

/** The start time of a process in ticks since boot; empty for a zombie and without `/proc`. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? '' : (fields[19] ?? '');
}
