import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { type Folder, run, temporaryFolder } from './runs.js';

const KILLS = 3;

it('killed: no acknowledged line is lost, over several runs on one journal', async () => {
  await using place = await temporaryFolder();
  const runner = await bundled(place);
  const said: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const lines = await killedAfter([runner, place.path, `r${kill}`], 300 + kill * 137);
    said.push(...lines);
    const { calls, settled } = await run(place.path);
    const open = new Set(calls.map(({ key }) => key));
    const over = new Set(settled.map(({ id }) => id));
    const missing = said.filter(line => {
      const [word, id = ''] = line.split(' ');
      return !over.has(id) && (word === 'delivered' || !open.has(id));
    });
    expect(missing).toEqual([]);
    expect([...open].filter(key => over.has(key))).toEqual([]);
  }
  expect(said.length).toBeGreaterThan(KILLS * 300);
  expect(await readFile(place.path, 'utf8')).toMatch(/\n$/);
}, 60_000);

/** Output until the kill; it never exits on its own. */
async function killedAfter(command: readonly string[], count: number): Promise<string[]> {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === count) child.kill('SIGKILL');
  }
  expect(await exit).toEqual([null, 'SIGKILL']);
  return lines;
}

async function bundled({ folder }: Folder): Promise<string> {
  const outfile = `${folder}/runner.mjs`;
  const entry = new URL('runner.ts', import.meta.url).pathname;
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
}
