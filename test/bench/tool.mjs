import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PLAIN_TOOL = fileURLToPath(new URL('../peers/plain-tool.mjs', import.meta.url));

/** The tool that both sides call: one process, started once, so that its own start counts for no one. */
export async function startTool(program = PLAIN_TOOL) {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const next = async () => JSON.parse((await once(lines, 'line'))[0]);
  const { port } = await next();
  return {
    url: `http://127.0.0.1:${port}`,
    /** What it says next. */
    next,
    stop: () => child.kill(),
  };
}
