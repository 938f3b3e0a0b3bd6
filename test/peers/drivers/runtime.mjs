/**
 * The driver of a runtime that is right, or broken in one way: `FAULT=<name of faults.mjs> node runtime.mjs`.
 * It is the example runtime of fixtures/runtimes/node, with one method overridden.
 */
import { fileURLToPath } from 'node:url';
import { drive } from '../../../fixtures/runtimes/node/driver.mjs';
import { Runtime } from '../../../fixtures/runtimes/node/runtime.mjs';
import { FAULTS } from './faults.mjs';

/** How long to wait for an answer at least, in milliseconds: many runtimes share the process of a test. */
const MIN_LIMIT = 1_500;

class PatientRuntime extends Runtime {
  post(url, body, limit) {
    return super.post(url, body, Math.max(limit, MIN_LIMIT));
  }
}

/**
 * Runs a driver in this process; resolves when it has ended.
 * @throws when the runtime crashes: its fault, or an instruction that is not JSON
 */
export async function runDriver({ input, output, env, fault, change = FAULTS[fault]?.change }) {
  const Changed = change ? change(PatientRuntime) : PatientRuntime;
  let crash;
  const crashed = new Promise((_, reject) => {
    crash = reject;
  });
  let runtime;
  const createRuntime = (agent, options) => {
    runtime = new Changed(agent, options);
    return Object.assign(runtime, { crash });
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
