import { PassThrough } from 'node:stream';
import { type driverOf, LineReader } from '../../../src/check/drive/driver.js';
import { runScenarios, SCENARIOS } from '../../../src/check/drive/run.js';
import type { Scenario } from '../../../src/check/drive/scenario.js';
import { ScriptedModel } from '../../../src/check/drive/scripted-llm.js';
import { gatherEvidence } from '../../../src/check/evidence.js';
import { checksOf } from '../../../src/check/judge.js';
import type { Check } from '../../../src/check/report.js';
import { createRunnableClock } from '../../../src/system/clock.js';
import type { DriverStreams } from '../../peers/drivers/runtime.mjs';

type OpenDriver = ReturnType<typeof driverOf>;

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

interface AgentRun {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const ignore = () => {};

/** An agent in this process, which uses the API of OpenAI. */
export function agentHere(run: (agent: AgentRun) => Promise<void>): OpenDriver {
  return async ({ env, onLine, onWarning, ...setting }) => {
    const model = await ScriptedModel.start('openai', {
      onLine,
      onWarning,
      onRequest: setting.onModelRequest ?? ignore,
      onUnserved: setting.onUnserved ?? ignore,
      onServed: setting.onServed ?? ignore,
    });
    const stopping = new AbortController();
    const ended = run({ env: { ...env, ...model.env }, signal: stopping.signal }).then(
      () => 'ended with status 0',
      (error: Error) => `crashed: ${error.message}`,
    );
    return {
      kind: 'agent',
      send: instruction => model.send(instruction),
      endTurn: () => model.endTurn(),
      ended,
      lastLines: () => [],
      async stop() {
        stopping.abort();
        await Promise.all([ended, model.close()]);
      },
    };
  };
}

const { signal } = new AbortController();

/** A runtime, and the scenarios that it plays. */
interface Player {
  readonly open: OpenDriver;
  /** Default: all. */
  readonly scenarios?: readonly Scenario[];
}

interface Running {
  /** The file of the runtime's own log: then one scenario runs after the other. */
  readonly log?: string;
  readonly atOnce?: number;
  readonly windowMs?: number;
}

/** The verdicts on each runtime. They share one run, so that none waits alone. */
export async function checksOfRuntimes(
  players: readonly Player[],
  { log, atOnce = 24, windowMs = 3_000 }: Running = {},
): Promise<readonly (readonly Check[])[]> {
  const played = players.flatMap(({ scenarios = SCENARIOS }, player) =>
    scenarios.map(scenario => ({ ...scenario, name: `${scenario.name} ${player}`, player })),
  );
  const recordings = await runScenarios(played, {
    ...{ clock: createRunnableClock(), windowMs, signal },
    ...(log === undefined ? { atOnce } : { logPath: log }),
    open: async setting => {
      const player = players[Number(setting.env['SCENARIO']?.split(' ')[1])];
      if (!player) throw new Error('no such runtime');
      return player.open(setting);
    },
  });
  const evidences = await Promise.all(recordings.map(recording => gatherEvidence(recording, 'runtime')));
  return players.map((_, index) =>
    checksOf(
      'runtime',
      evidences.filter((__, at) => played[at]?.player === index),
    ),
  );
}

/** The verdicts on a runtime. */
export async function checksOfRuntime(
  open: OpenDriver,
  { scenarios, ...running }: Running & Pick<Player, 'scenarios'> = {},
): Promise<readonly Check[]> {
  const [checks = []] = await checksOfRuntimes([{ open, ...(scenarios && { scenarios }) }], running);
  return checks;
}

/** The verdicts of these statuses, with their reasons. */
export function verdicts(checks: readonly Check[], ...wanted: readonly Check['status'][]) {
  return checks
    .filter(({ status }) => wanted.includes(status))
    .map(({ id, status, reason }) => ({ id, status, reason }));
}
