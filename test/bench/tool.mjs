import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PLAIN_TOOL = fileURLToPath(new URL('../peers/plain-tool.mjs', import.meta.url));

/** The tool that both sides call: one process, started once, so that its own start counts for nobody. */
export async function startTool(program = PLAIN_TOOL) {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: `http://127.0.0.1:${JSON.parse(line).port}`, stop: () => child.kill() };
}
