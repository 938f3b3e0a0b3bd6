import { setMaxListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { gather } from '../../../src/check/evidence.js';
import { type Check, checksOf } from '../../../src/check/judge.js';
import { LineReader, type OpenDriver } from '../../../src/check/runtime/driver.js';
import { runScenarios, SCENARIOS } from '../../../src/check/runtime/run.js';
import type { Scenario } from '../../../src/check/runtime/scenario.js';
import { systemClock } from '../../../src/system/clock.js';
import type { DriverStreams } from '../../peers/drivers/runtime.mjs';

/** A driver in this process, which starts in no time. */
export function driverHere(run: (streams: DriverStreams) => Promise<void>, log?: string): OpenDriver {
  return async setting => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const reader = new LineReader(setting);
    output.on('data', (chunk: Buffer) => void reader.add(chunk));
    const ended = run({ input, output, env: { ...setting.env, LOG: log } }).then(
      () => 'ended with status 0',
      (error: Error) => `crashed: ${error.message}`,
    );
    return {
      kind: 'driver',
      send: instruction => void input.write(`${JSON.stringify(instruction)}\n`),
      ended,
      lastLines: () => [],
      async stop() {
        input.end();
        await ended;
      },
    };
  };
}

/** Of many scenarios at the same time. */
const { signal } = new AbortController();
setMaxListeners(0, signal);

interface Running {
  /** Default: all. */
  readonly scenarios?: readonly Scenario[];
  /** The file of the runtime's own log: then one scenario runs after the other. */
  readonly log?: string;
  readonly atOnce?: number;
}

/** The verdicts on a runtime. */
export async function checksOfRuntime(
  open: OpenDriver,
  { scenarios = SCENARIOS, log, atOnce = 8 }: Running = {},
): Promise<readonly Check[]> {
  const recordings = await runScenarios(scenarios, {
    ...{ open, clock: systemClock, windowMs: 3_000, signal },
    ...(log === undefined ? { atOnce } : { logPath: log }),
  });
  const evidences = await Promise.all(recordings.map(recording => gather(recording, 'runtime')));
  return checksOf('runtime', evidences);
}

/** The verdicts of these statuses, with their reasons. */
export function verdicts(checks: readonly Check[], ...wanted: readonly Check['status'][]) {
  return checks
    .filter(({ status }) => wanted.includes(status))
    .map(({ id, status, reason }) => ({ id, status, reason }));
}
