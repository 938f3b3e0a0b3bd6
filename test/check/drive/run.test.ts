import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runScenarios, SCENARIOS, type ScenarioOptions } from '../../../src/check/drive/run.js';
import type { Scenario } from '../../../src/check/drive/scenario.js';
import { scenarioPlanIn } from '../../../src/check/driver-evidence.js';
import { RULES } from '../../../src/check/rules/index.js';
import { ABILITIES } from '../../../src/protocol/driver.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { systemClock } from '../../../src/system/clock.js';
import { driverHere } from '../../e2e/support/drivers.js';
import { PatientRuntime } from '../../peers/drivers/faults.mjs';
import { runDriver } from '../../peers/drivers/runtime.mjs';
import { fakeClock } from '../../support/fake-clock.js';

type OpenDriver = ScenarioOptions['open'];
type DriverSetting = Parameters<OpenDriver>[0];
type Driver = Awaited<ReturnType<OpenDriver>>;

/** A driver whose runtime answers every call at once, without a request. */
function inventive({ onLine, env }: DriverSetting): Driver & { stops: number } {
  let end = (_: string) => {};
  const ended = new Promise<string>(resolve => {
    end = resolve;
  });
  const driver = {
    kind: 'driver' as const,
    ended,
    stops: 0,
    lastLines: () => [],
    send(instruction: Parameters<Driver['send']>[0]) {
      if (instruction.do === 'invoke')
        onLine({ saw: 'model', id: instruction.id, text: env['SCENARIO'] ?? '' });
      if (instruction.do === 'end') end('ended with status 0');
    },
    async stop() {
      driver.stops++;
    },
  };
  return driver;
}

const scenario = (name: string, more: Partial<Scenario> = {}): Scenario => ({
  name,
  title: name,
  checks: ['RT-TEXT'],
  servers: [{}],
  run: async session => {
    await session.call('ping');
  },
  ...more,
});

test('a scenario declares what all its rules need: without it, it would show nothing', () => {
  const isNeeded = (ability: string, id: RequirementId) => {
    const rule = RULES[id];
    return 'needs' in rule && rule.needs?.some(each => each === ability);
  };
  const undeclared = SCENARIOS.flatMap(({ name, checks, needs = [] }) =>
    ABILITIES.filter(ability => checks.every(id => isNeeded(ability, id)))
      .filter(ability => !needs.some(each => each === ability))
      .map(ability => `${name}: ${ability}`),
  );
  expect(undeclared).toEqual([]);
});

/** Opens drivers, and counts those that were not stopped. */
function opening(open: (setting: DriverSetting) => Driver & { stops: number } = inventive) {
  const drivers: { stops: number }[] = [];
  const opened: OpenDriver = async setting => {
    const driver = open(setting);
    drivers.push(driver);
    return driver;
  };
  return { open: opened, drivers, running: () => drivers.filter(({ stops }) => stops === 0).length };
}

const options = (open: OpenDriver, more: Partial<ScenarioOptions> = {}): ScenarioOptions => ({
  open,
  clock: systemClock,
  windowMs: 2_000,
  signal: new AbortController().signal,
  ...more,
});

test('events of all recordings have their own numbers and calls, and times of the whole run', async () => {
  const { open, drivers, running } = opening();
  const progress: string[] = [];
  const scenarios = ['a', 'b', 'c'].map(name => scenario(name));
  const recordings = await runScenarios(scenarios, {
    ...options(open),
    onProgress: (done, total, name) => void progress.push(`${done}/${total} ${name}`),
  });
  expect(recordings.map(({ events }) => scenarioPlanIn(events)?.plan)).toEqual(['a', 'b', 'c']);
  const seqs = recordings.flatMap(({ events }) => events.map(({ seq }) => seq));
  expect(seqs).toEqual(seqs.map((_, index) => index));
  const [first, second] = recordings.map(({ events }) => events[0]?.at ?? 0);
  expect(second).toBeGreaterThan(first ?? 0);
  expect(progress.slice(0, 2)).toEqual(['0/3 a', '1/3 a']);
  expect([drivers.length, running()]).toEqual([3, 0]);
});

test.each([
  ['ends', 'ended with status 1'],
  ['waits', null],
])(
  'a driver that asks for the toolset alone, and then %s, is not a runtime that can be judged',
  async (_, end) => {
    const open: OpenDriver = async setting => {
      await fetch(`${setting.env['TOOL_URL']}/.well-known/rap-toolset`);
      const silent = { ...inventive(setting), send: () => {} };
      return end === null ? silent : { ...silent, ended: Promise.resolve(end) };
    };
    await expect(runScenarios([scenario('a')], options(open, { windowMs: 100 }))).rejects.toMatchObject({
      code: 'command-failed',
      message: end === null ? 'the driver called no tool and reported nothing' : `the driver ${end}`,
    });
  },
);

test('a request that does not know the secret path of the tools is answered 404, and is not one of the runtime', async () => {
  const statuses: number[] = [];
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"thread_id":"t"}' };
  const open: OpenDriver = async setting => {
    const base = setting.env['TOOL_URL'] ?? '';
    const { origin } = new URL(base);
    for (const [url, init] of [
      [`${origin}/.well-known/rap-toolset`],
      [`${origin}/invoke`, post],
      [`${origin}/close_thread`, post],
      [`${origin}/__mock__/journal`],
      [`${base}/.well-known/rap-toolset`],
      [`${base}/close_thread`, post],
    ] as const)
      statuses.push((await fetch(url, init)).status);
    return inventive(setting);
  };
  const [recording] = await runScenarios([scenario('a')], options(open));
  expect(statuses).toEqual([404, 404, 404, 404, 200, 200]);
  const requests = recording?.events.flatMap(event => (event.kind === 'request' ? [event] : [])) ?? [];
  expect(requests.map(({ purpose }) => purpose)).toEqual(['discovery', 'close']);
  expect(new Set(requests.map(({ url }) => new URL(url).pathname.split('/')[1])).size).toBe(1);
});

describe('everything is stopped', () => {
  test('if a tool server cannot start', async () => {
    const { open, running } = opening();
    const hanging = scenario('b', { run: session => session.waitQuietly(60_000) });
    const invalid = scenario('c', { servers: [{}, { fixtures: [{ match: 1 }] }] });
    const ends: string[] = [];
    await expect(
      runScenarios([scenario('a'), hanging, invalid, scenario('d')], {
        ...options(open, { atOnce: 2 }),
        onStart: ({ name }) => ({ end: () => void ends.push(name) }),
      }),
    ).rejects.toMatchObject({ code: 'invalid-fixtures' });
    expect(running()).toBe(0);
    expect(ends.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('if a driver cannot be opened', async () => {
    const open: OpenDriver = async () => Promise.reject(new Error('no driver'));
    await expect(runScenarios([scenario('a')], options(open))).rejects.toThrow('no driver');
  });

  test.each([
    ['before', 2],
    ['after', 1],
  ])('if the progress %s a scenario cannot be reported', async (_, failing) => {
    const folders: string[] = [];
    const { open, running } = opening(setting => {
      folders.push(dirname(dirname(setting.env['RAP_CONFIG'] ?? '')));
      return inventive(setting);
    });
    const ends: string[] = [];
    let reports = 0;
    const run = runScenarios([scenario('a'), scenario('b')], {
      ...options(open),
      onStart: ({ name }) => ({ end: () => void ends.push(name) }),
      onProgress() {
        if (reports++ === failing) throw new Error('no screen');
      },
    });
    await expect(run).rejects.toThrow('no screen');
    expect(ends).toEqual(['a']);
    expect(running()).toBe(0);
    expect(folders.filter(existsSync)).toEqual([]);
    expect(folders.length).toBe(1);
  });

  test('if the user stops it: a scenario that did not end is not judged', async () => {
    const { open, drivers, running } = opening();
    const stop = new AbortController();
    const stopping = scenario('b', {
      run: async session => {
        stop.abort();
        await session.waitQuietly(60_000);
      },
    });
    const scenarios = [scenario('a'), stopping, scenario('c')];
    const recordings = await runScenarios(scenarios, options(open, { signal: stop.signal, atOnce: 1 }));
    expect(recordings.map(({ events }) => scenarioPlanIn(events)?.plan)).toEqual(['a']);
    expect([drivers.length, running()]).toEqual([2, 0]);
  });

  test('if it is stopped before it starts', async () => {
    const { open, drivers } = opening();
    expect(await runScenarios([scenario('a')], options(open, { signal: AbortSignal.abort() }))).toEqual([]);
    expect(drivers).toEqual([]);
  });
});

test('a command that calls nothing and reports nothing is an error of the first scenario', async () => {
  const clock = fakeClock();
  const idle = { send: () => {}, lastLines: () => ['config: not found'], hint: 'See the guide.' };
  const { open, running } = opening(setting => {
    setting.onLine({ cannot: ['dismiss'] });
    setting.onWarning('ignored a line');
    return Object.assign(inventive(setting), idle);
  });
  const run = runScenarios([scenario('a'), scenario('b')], options(open, { clock }));
  const passing = setInterval(() => clock.advance(1_000), 1);
  await expect(run).rejects.toMatchObject({
    code: 'command-failed',
    message: 'the driver called no tool and reported nothing',
    faults: ['ignored a line', 'config: not found'],
    hint: idle.hint,
  });
  clearInterval(passing);
  expect(running()).toBe(0);
});

describe('if the model gets no ordinary result', () => {
  const WINDOW_MS = 2_000;

  /** The status with which the ordinary result was answered, and how long was waited in vain in these scenarios. */
  const inVain = async (names: readonly string[], methods: object, windowMs = WINDOW_MS) => {
    Object.setPrototypeOf(methods, PatientRuntime.prototype);
    const lost: (number | null)[] = [];
    const open = driverHere(streams => runDriver({ ...streams, methods }));
    const recordings = await runScenarios(
      SCENARIOS.filter(({ name }) => names.includes(name)),
      options(open, { windowMs, onContactLost: status => void lost.push(status) }),
    );
    const waits = recordings.map(({ events }) =>
      events.flatMap(event => (event.kind === 'expired' ? [event.afterMs] : [])),
    );
    return { lost, waits };
  };

  test('since the runtime refuses all callbacks, nothing more is awaited for the whole time', async () => {
    const names = ['result', 'duplicates', 'choice', 'consent', 'subscription'];
    const { lost, waits } = await inVain(names, { receive: async () => 404 });
    expect([lost, waits[0]]).toEqual([[404], [WINDOW_MS]]);
    expect(new Set(waits.slice(1).flat())).toEqual(new Set([400]));
  });

  test('nor if it accepts them', async () => {
    const { lost, waits } = await inVain(['result', 'duplicates'], { onResult: async () => 200 });
    expect([lost, waits[0]]).toEqual([[200], [WINDOW_MS]]);
    expect(new Set(waits[1])).toEqual(new Set([1_000]));
  });

  test('but gets another one, the whole time counts again', async () => {
    const { lost, waits } = await inVain(['result', 'early-and-late'], {
      awaitsResult: (call: { operation: string }) => call.operation !== 'answer',
    });
    expect([lost, waits[0]]).toEqual([[200], [WINDOW_MS]]);
    expect(waits[1]).toContain(WINDOW_MS);
  });

  test('which a right runtime passes on', async () => {
    expect(await inVain(['result', 'refusals'], {}, 60_000)).toEqual({ lost: [], waits: [[], []] });
  });
});
