import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { publishedSchema } from '../../support/published-schema.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { type OwnTool, resultFor, startTool } from '../support/own-tool.js';

/** No MUST fails by one observation: `check` repeats what failed. */

interface Row {
  readonly id: string;
  readonly status: string;
  readonly runs?: object;
  readonly evidence?: readonly { readonly run?: number }[];
}

/** A tool that sends a wrong group_id in runs like these; a run begins with a discovery. */
async function startWrongTool(isWrongIn: (run: number) => boolean): Promise<OwnTool> {
  const runOf = ({ received }: OwnTool) => received.filter(({ method }) => method === 'GET').length;
  const tool: OwnTool = await startTool({
    greet: {
      callbacks: call => [resultFor(isWrongIn(runOf(tool)) ? { ...call, group_id: 'other' } : call, 'hello')],
    },
  });
  return tool;
}

const ONE_RULE = ['--operation', 'greet', '--only', 'TOOL-GROUP', '--probe-timeout', '1s'];

const FORMATS = ['json', 'junit', 'github', 'markdown'] as const;

/** Checks a tool. Returns its row, and what each reporter writes. */
async function checkTool({ url }: OwnTool, ...more: string[]) {
  await using folder = await temporaryFolder();
  const reporters = FORMATS.flatMap(name => ['--reporter', `${name}:${folder.file(name)}`]);
  const ended = await runHere(['check', url, ...ONE_RULE, ...reporters, ...more]);
  const texts = await Promise.all(FORMATS.map(name => readFile(folder.file(name), 'utf8')));
  const [json = ''] = texts;
  expect(publishedSchema('check-report').faultsOf(JSON.parse(json))).toEqual([]);
  const [row]: readonly Row[] = JSON.parse(json).checks;
  return { ...ended, row, texts: [ended.stdout, ...texts.slice(1)] };
}

describe.concurrent('a rule that a tool breaks', () => {
  test('each time fails, 3 of 3, in every report', async () => {
    await using tool = await startWrongTool(() => true);
    const { status, row, texts } = await checkTool(tool);
    expect(status).toBe(1);
    expect(row).toMatchObject({ status: 'fail', runs: { failed: 3, of: 3 } });
    for (const text of texts) expect(text).toContain('3 of 3 failed');
  });

  test('once is flaky, in every report: incomplete, with a transcript of each kind', async () => {
    await using folder = await temporaryFolder();
    await using tool = await startWrongTool(run => run === 1);
    const [failing, passing] = [folder.file('run.ndjson'), folder.file('run.2.ndjson')];
    const { status, stdout, row, texts } = await checkTool(tool, '--save', failing);
    expect(status).toBe(3);
    expect(stdout).toContain('Flaky; neither passed nor failed\n? TOOL-GROUP');
    expect(stdout).toContain(`    failing   ${failing}\n    passing   ${passing}\n`);
    for (const text of texts) expect(text).toContain('flaky, 1 of 3 failed');
    expect(row?.runs).toMatchObject({
      ...{ failed: 1, of: 3, transcript: failing },
      other: { run: 2, status: 'pass', transcript: passing },
    });
    expect(new Set(row?.evidence?.map(({ run }) => run))).toEqual(new Set([1, 2]));
    expect(await readdir(folder.path)).toEqual(['run.2.ndjson', 'run.3.ndjson', 'run.ndjson']);
    const again = (file: string) => runHere(['check', file, '--only', 'TOOL-GROUP']);
    expect((await again(failing)).stdout).toContain('1 observation; a recording cannot be repeated\n');
    expect((await again(passing)).status).toBe(0);
  });

  test('in an expected failure is not repeated', async () => {
    await using folder = await temporaryFolder();
    await using tool = await startWrongTool(() => true);
    const known = await folder.write('known.yaml', 'TOOL-GROUP: known\n');
    const { row } = await checkTool(tool, '--expected-failures', known);
    expect(row).toMatchObject({ status: 'fail', standing: 'expected' });
    expect(row?.runs).toBeUndefined();
    expect(tool.received.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });
});

const CASE = `version: 1
cases: [{ operation: greet, arguments: {} }]
`;

test('a case of an operation that may change something is called once', async () => {
  await using folder = await temporaryFolder();
  await using tool = await startWrongTool(() => true);
  const cases = await folder.write('cases.yaml', CASE);
  const only = ['--only', 'TOOL-GROUP', '--probe-timeout', '1s'];
  const { status, stdout } = await runHere(['check', tool.url, ...only, '--cases', cases]);
  expect(status).toBe(1);
  expect(stdout).toContain(
    'runs      1 observation; a case is called once, unless its operation is given with --operation, or marked readOnly and neither destructive nor longRunning nor requiresAuth\n',
  );
  expect(tool.invocations()).toHaveLength(1);
});

/** A driver that changes what the model gets, the first time that it is started. */
const DRIVER = new URL('../../../fixtures/runtimes/node/driver.mjs', import.meta.url);
const FIRST_TIME = `
import { existsSync, writeFileSync } from 'node:fs';
import { drive } from ${JSON.stringify(DRIVER.href)};
const isBroken = !existsSync(process.env.STARTED);
writeFileSync(process.env.STARTED, '');
const write = line => process.stdout.write(isBroken ? line.replace('"text":"', '"text":"Result: ') : line);
await drive({ input: process.stdin, output: { write }, env: process.env });
process.exit();
`;

test('a rule that a runtime breaks once is flaky: incomplete, with a transcript of each kind', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write('driver.mjs', FIRST_TIME);
  const out = folder.file('out');
  const { status, stdout } = await runHere([
    ...['check', '--runtime', `STARTED='${folder.file('started')}' node ${script}`],
    ...['--scenario', 'result', '--only', 'RT-TEXT', '--save', out],
  ]);
  expect(stdout).toContain('Flaky; neither passed nor failed\n? RT-TEXT');
  expect(stdout).toContain(
    `    runs      flaky, 1 of 3 failed\n    failing   ${out}/result.ndjson\n    passing   ${out}/result.2.ndjson\n`,
  );
  expect(stdout).toContain('? incomplete · 1 scenario · 1 rule: 1 flaky\n');
  expect(status).toBe(3);
  expect(await readdir(out)).toEqual(['result.2.ndjson', 'result.3.ndjson', 'result.ndjson']);
});
