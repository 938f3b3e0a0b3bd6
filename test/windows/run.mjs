#!/usr/bin/env node
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CASES } from './cases.mjs';
import { hasWine, install, leftProcesses, shutDown } from './wine.mjs';

/**
 * Runs the built program with Node.js for Windows under Wine: `run.mjs [word …]` runs the cases whose titles contain a word. Without
 * Wine it does nothing, but fails in CI.
 */

const words = process.argv.slice(2);
const print = line => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0 };

if (!(await hasWine())) {
  print('Wine is not installed: on Debian, `apt-get install wine wine64` as root');
  process.exit(process.env.CI ? 1 : 0);
}
await install();
try {
  for (const [title, run] of Object.entries(CASES))
    if (words.length === 0 || words.some(word => title.includes(word))) await attemptTwice(title, run);
} finally {
  await shutDown();
}
print(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 ? 1 : 0;

/** Wine itself fails now and then. */
async function attemptTwice(title, run) {
  if ((await attempt(title, run)) || (await attempt(`${title}, again`, run))) count.passed += 1;
  else count.failed += 1;
}

async function attempt(title, run) {
  const folder = await mkdtemp(join(tmpdir(), 'windows case '));
  const start = performance.now();
  try {
    await run(folder);
    if (title.includes('Wine leaves')) await shutDown();
    else await nothingIsLeft();
    print(`✓ ${title} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    print(`✗ ${title}\n${error.stack}`);
    await shutDown();
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An ended process stays in the list for a moment. */
async function nothingIsLeft() {
  for (let tries = 0; tries < 100; tries++) {
    if ((await leftProcesses()).length === 0) return;
    await sleep(100);
  }
  throw new Error(`still running: ${(await leftProcesses()).join(', ')}`);
}
