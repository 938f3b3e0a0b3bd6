/**
 * The driver of a runtime that is right, or broken in one way: `FAULT=<name of faults.mjs> node runtime.mjs`.
 * It is the example runtime of fixtures/runtimes/node, with some methods overridden.
 */
import { fileURLToPath } from 'node:url';
import { drive } from '../../../fixtures/runtimes/node/driver.mjs';
import { FAULTS, PatientRuntime } from './faults.mjs';

/**
 * Runs a driver in this process; resolves when it has ended.
 * @throws when the runtime crashes: its fault, or an instruction that is not JSON
 */
export async function runDriver({ input, output, env, fault, methods, Variant = PatientRuntime }) {
  let crash;
  const crashed = new Promise((_, reject) => {
    crash = reject;
  });
  let runtime;
  const createRuntime = (agent, options) => {
    runtime = Object.assign(new Variant(agent, options), { crash });
    const changed = fault ? FAULTS[fault].methods : methods;
    if (changed) Object.setPrototypeOf(runtime, changed);
    return runtime;
  };
  try {
    await Promise.race([drive({ input, output, env, createRuntime }), crashed]);
  } finally {
    runtime.listener?.close();
    runtime.listener?.closeAllConnections();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { FAULT: fault } = process.env;
  await runDriver({ input: process.stdin, output: process.stdout, env: process.env, fault });
  process.stdout.write('', () => process.exit());
}
