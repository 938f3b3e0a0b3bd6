import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ours } from '../programs.mjs';

const HOOK = fileURLToPath(new URL('../report-peak.cjs', import.meta.url));
const FIXTURES = fileURLToPath(new URL('./fixtures.yaml', import.meta.url));

export const bare = [fileURLToPath(new URL('./bare-tool.mjs', import.meta.url))];
export const mock = (...flags) => ours('mock-tool', FIXTURES, '-q', ...flags);

/** A server as a process of its own, once it has said where it listens; `stop` resolves to its peak memory in bytes. */
export async function startServer(args) {
  const child = spawn(process.execPath, ['--require', HOOK, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const peakKiB = text(child.stdio[3]);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    url: JSON.parse(line).url,
    async stop() {
      child.kill('SIGTERM');
      return Number(await peakKiB) * 1024;
    },
  };
}
