#!/usr/bin/env node
import { AGENTS, tryAgent } from './agents.mjs';
import { API_CHECKS } from './api.mjs';
import { CONFORMANCE } from './conformance.mjs';
import { updateGuide } from './guide.mjs';
import { KITS, missingProgram } from './kits.mjs';
import { MCP_PEERS } from './mcp.mjs';
import { SESSION_CLIENTS } from './sessions.mjs';
import { TOOLS, tryTool } from './tools.mjs';

/**
 * Installs and runs peers written with real frameworks: `run.mjs [--update] [name …]`. A language whose toolchain is missing is skipped,
 * but not in CI; what cannot be installed fails. `--update` writes the guide `peers` if all passed.
 */

const words = process.argv.slice(2);
const isUpdate = words.includes('--update');
const names = words.filter(word => !word.startsWith('--'));

const peers = [
  ...TOOLS.map(tool => ({ name: tool.name, kit: tool.kit, run: () => tryTool(tool) })),
  ...AGENTS.map(agent => ({ name: agent.name, kit: agent.kit, run: () => tryAgent(agent) })),
  ...SESSION_CLIENTS,
  ...API_CHECKS,
  ...MCP_PEERS,
  ...CONFORMANCE,
];
const unknown = names.filter(name => peers.every(peer => peer.name !== name));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown: ${unknown.join(', ')}; known: ${peers.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}
const cases = peers.filter(({ name }) => names.length === 0 || names.includes(name));
const print = line => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0, skipped: 0 };

const report = (mark, kind, text) => {
  count[kind] += 1;
  print(`${mark} ${text}`);
};

/** Installs the kits one after another, so that the cases of the first run while the next is built. */
const installations = new Map();
let previous = Promise.resolve();
for (const kit of new Set(cases.map(({ kit }) => kit))) {
  const state = previous.then(() => prepare(kit));
  installations.set(kit, state);
  previous = state;
}

async function prepare(name) {
  const missing = await missingProgram(KITS[name]);
  if (missing) return { missing };
  const start = performance.now();
  try {
    await KITS[name].install();
    print(`  installed ${name} (${seconds(start)})`);
    return {};
  } catch (error) {
    return { error };
  }
}

const seconds = start => `${((performance.now() - start) / 1000).toFixed(1)} s`;

for (const { name, kit, run } of cases) {
  const { missing, error } = await installations.get(kit);
  if (error) report('✗', 'failed', `${name}: not installed\n${error.message}`);
  else if (missing && process.env.CI) report('✗', 'failed', `${name}: ${missing} is not in the path`);
  else if (missing) report('-', 'skipped', `${name}: ${missing} is not in the path`);
  else await attempt(name, run);
}

async function attempt(name, run) {
  const start = performance.now();
  try {
    await run();
    report('✓', 'passed', `${name} (${seconds(start)})`);
  } catch (error) {
    report('✗', 'failed', `${name} (${seconds(start)})\n${error.stack}`);
  }
}

if (isUpdate && names.length === 0 && count.failed + count.skipped === 0) await updateGuide();
print(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exitCode = count.failed > 0 ? 1 : 0;
