import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What no test tells, side by side: most of the time each of them keeps one processor busy and leaves the others idle. */
const CHECKS = ['typecheck', 'lint', 'deadcode'];

const statuses = await Promise.all(CHECKS.map(statusOf));
process.exitCode = Math.max(...statuses);

async function statusOf(check) {
  const child = spawn('npm', ['run', check], { stdio: 'inherit', shell: process.platform === 'win32' });
  const [status] = await once(child, 'exit');
  return status ?? 1;
}
