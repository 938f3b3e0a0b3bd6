import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHere } from '../e2e/support/in-process.js';
import { type MockHere, startMockHere } from '../e2e/support/mock.js';
import { ROOT } from '../e2e/support/program.js';
import { openRuntime } from '../peers/runtime.mjs';
import { expectGolden, expectGoldenFrames, filesIn, masked, printed } from './golden.js';

/** What real runs print at a time that stands still, without their ports and tokens (else: npm run goldens). */
beforeAll(stopTime);
afterAll(() => vi.restoreAllMocks());

function stopTime(): void {
  vi.spyOn(performance, 'now').mockReturnValue(1_000);
}

const EXAMPLES = new Map(filesIn('fixtures/examples').map(({ name, file }) => [name, file]));
const example = (name: string) => EXAMPLES.get(name) ?? name;
const SIZE = { columns: 80, rows: 24 };
/** Shows all keys. */
const LARGE = { columns: 200, rows: 60 };

const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  choice: [['write_outside', 'path=a.txt', '--choose', '0']],
  display: [['edit_file', 'path=a.txt'], ['draw']],
  outcomes: [['query'], ['transfer'], ['delete_all']],
  templates: [['echo', 'count=2']],
  toolset: [['read_file', 'path=a.txt', 'lines=0'], ['read_fiel'], ['delete_file', 'path=a']],
  view: [['migrate_data']],
};

describe.each(Object.keys(CALLS))('fixtures/examples/%s.yaml', name => {
  let mock: MockHere;
  beforeAll(async () => {
    mock = await startMockHere([example(name), '--seed', 'goldens', '--verify']);
  });
  afterAll(() => mock.stop());

  test('toolset', async () => {
    const text = await printed([
      ['toolset', mock.url],
      ['toolset', mock.url, '-o', 'json'],
    ]);
    await expectGolden(expect, `live-${name}.toolset`, masked(text));
  });

  test("invoke in every format, then the mock's report", async () => {
    const commands = (CALLS[name] ?? []).flatMap((call, index) =>
      ['text', 'plain', 'json', 'ndjson'].map(output => {
        const ids = ['--id', `call_${index}_${output}`, '--group-id', 'thread_1'];
        return ['invoke', mock.url, ...call, ...ids, '-o', output];
      }),
    );
    const invoked = await printed(commands);
    const { status, stderr } = await mock.stop();
    await expectGolden(expect, `live-${name}.invoke`, masked(invoked));
    // A choice may arrive before the answer to its question.
    const inOrder = stderr.replaceAll(/(.* choice .*\n)(.*user_choice delivered.*\n)/g, '$2$1');
    await expectGolden(expect, `live-${name}.mock`, masked(`${inOrder}--- exit ${status}\n`));
  });
});

test('check of the bundled tool', async () => {
  vi.restoreAllMocks(); // a check waits for the time in which it can run
  const text = await printed([['check', '--demo', '--only', 'TOOL-ID', '--only', 'TOOL-DIFF']]);
  await expectGolden(expect, 'live-check', masked(text));
  stopTime();
});

test('session mock and session answer', async () => {
  const platform = startHere([
    'session',
    'mock',
    join(ROOT, 'fixtures/sessions/order.yaml'),
    '--key',
    'k',
    '--verify',
  ]);
  const url = await platform.prints(/"url":"([^"]+)"/);
  const session = await platform.prints(/"session":"([^"]+)"/);
  const orders = ['--fixtures', join(ROOT, 'test/goldens/orders.yaml'), '--key', 'k'];
  const text = await printed([['session', 'answer', url, session, ...orders, '-o', 'json']]);
  platform.interrupt();
  const { status, stdout, stderr } = await platform.ended;
  const output = `${text}\n$ protocol-cli session mock\n${stdout}--- stderr\n${stderr}--- exit ${status}\n`;
  await expectGolden(expect, 'live-session', masked(output).replaceAll(ROOT, ''));
});

describe('full screen', () => {
  test('mock-tool', async () => {
    await using runtime = await openRuntime();
    await expectGoldenFrames(expect, 'live-mock.screens', {
      args: ['mock-tool', join(ROOT, 'fixtures/examples/display.yaml'), '--seed', 'goldens'],
      cwd: ROOT,
      mask: masked,
      frames: [
        { title: 'a call', keys: '1', size: SIZE },
        { title: 'the second tab', keys: '2', size: SIZE },
      ],
      prepare: async screen => {
        const url = /http:\/\/127\.0\.0\.1:\d+/;
        await screen.shows(url);
        const [base = ''] = url.exec(screen.text()) ?? [];
        for (const operation of ['edit_file', 'draw']) {
          const args = { path: 'a.txt' };
          const call = await runtime.invoke(base, operation, args, { id: operation, groupId: 'thread_1' });
          await call.result();
          await screen.shows(new RegExp(`${operation}.*delivered`));
        }
      },
    });
  });

  test('session mock', async () => {
    await expectGoldenFrames(expect, 'live-session.screens', {
      args: ['session', 'mock', join(ROOT, 'fixtures/sessions/order.yaml'), '--key', 'k'],
      cwd: ROOT,
      mask: masked,
      frames: [{ title: 'waiting', size: SIZE }],
      prepare: screen => screen.shows('lookup_order'),
    });
  });

  test('the form of an operation', async () => {
    await expectGoldenFrames(expect, 'live-form.screens', {
      args: ['invoke', '-i', '--demo', 'deploy', 'service=api'],
      cwd: ROOT,
      mask: masked,
      frames: [{ title: 'form', size: SIZE }],
      prepare: screen => screen.shows('service*'),
    });
  });

  test('the tools', async () => {
    await expectGoldenFrames(expect, 'live-tools.screens', {
      args: ['invoke', '-i', '--demo'],
      cwd: ROOT,
      mask: masked,
      frames: [
        { title: 'tools', size: SIZE },
        { title: 'keys', keys: '?', size: LARGE },
      ],
      prepare: screen => screen.shows('edit_file'),
    });
  });
});
