import { readdir, readFile, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/check/drive/run.js';
import { publishedSchema } from '../../support/published-schema.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere, startHere } from '../support/in-process.js';

const DRIVER = new URL('../../../fixtures/runtimes/node/driver.mjs', import.meta.url);

/** A driver that changes what the model gets in two scenarios. */
const BROKEN = `
import { drive } from ${JSON.stringify(DRIVER.href)};
const isBroken = ['result', 'duplicates'].includes(process.env.SCENARIO);
const write = line => process.stdout.write(isBroken ? line.replace('"text":"', '"text":"Result: ') : line);
await drive({ input: process.stdin, output: { write }, env: process.env });
process.exit();
`;

const SOME = ['result', 'duplicates', 'invalid-results', 'display'];
const selected = SOME.flatMap(name => ['--scenario', name]);

interface Row {
  readonly id: string;
  readonly status: string;
  readonly scenarios?: readonly string[];
}

const rowsIn = (json: string): readonly Row[] => JSON.parse(json).checks;

test('--save writes a transcript per scenario, which check judges alike; every report names the scenarios', async () => {
  await using folder = await temporaryFolder();
  const command = `node ${await folder.write('driver.mjs', BROKEN)}`;
  const out = folder.file('out');
  const files = ['json', 'junit', 'markdown', 'github'].map(name => [name, folder.file(name)] as const);
  const reporters = files.flatMap(([name, file]) => ['--reporter', `${name}:${file}`]);
  const check = ['check', '--runtime', command, ...selected, '--save', out];
  const { status, stdout } = await runHere([...check, ...reporters]);
  expect(status).toBe(1);
  expect(stdout).toContain('    runs      3 of 3 failed\n    scenarios result, duplicates\n');
  expect(stdout).toContain(`full messages: protocol-cli render ${out}/result.ndjson\n`);
  expect(stdout).toContain('✗ failed · 4 scenarios · ');
  const [json = '', ...others] = await Promise.all(files.map(([, file]) => readFile(file, 'utf8')));
  expect(publishedSchema('check-report').faultsOf(JSON.parse(json))).toEqual([]);
  expect(JSON.parse(json).scenarios.map(({ id }: { id: string }) => id)).toEqual(SOME);
  for (const text of others) expect(text).toMatch(/(?:scenarios:?|in) result, duplicates/);

  const repeated = ['result', 'duplicates'].flatMap(name => [`${name}.2`, `${name}.3`]);
  const names = [...SOME, ...repeated].map(name => `${name}.ndjson`);
  expect((await readdir(out)).toSorted()).toEqual(names.toSorted());
  const saved = new Map<string, Row[]>();
  for (const name of SOME) {
    const again = await runHere(['check', `${out}/${name}.ndjson`, '--reporter', 'json']);
    for (const row of rowsIn(again.stdout)) saved.set(row.id, [...(saved.get(row.id) ?? []), row]);
  }
  for (const { id, status, scenarios = [] } of rowsIn(json)) {
    const found = saved.get(id) ?? [];
    expect([id, found.map(each => each.status)]).toEqual([id, expect.arrayContaining([status])]);
    expect([id, found.flatMap(each => each.scenarios ?? [])]).toEqual([id, scenarios]);
  }
  const rendered = await runHere(['render', `${out}/result.ndjson`]);
  expect(rendered.stdout.replace(/\s+/g, ' ')).toContain('"text":"Result: the answer is 42"}');
});

test('the bundled driver works if its path contains a symbolic link', async () => {
  await using folder = await temporaryFolder();
  await symlink(dirname(fileURLToPath(DRIVER)), folder.file('linked'));
  const command = `node ${folder.file('linked')}/driver.mjs`;
  const { stdout } = await runHere(['check', '--runtime', command, '--scenario', 'result', '-q']);
  expect(stdout).toContain('✓ passed · 1 scenario');
});

test('a runtime that loads only the first server: RT-TOOLSET could not run', async () => {
  await using folder = await temporaryFolder();
  const first = 'const env = { ...process.env, TOOL_URLS: JSON.stringify([process.env.TOOL_URL]) };';
  const driver = first + BROKEN.replace('env: process.env', 'env');
  const command = `node ${await folder.write('driver.mjs', driver)}`;
  const scenario = ['--scenario', 'duplicate-operations'];
  const { stdout } = await runHere(['check', '--runtime', command, ...scenario, '--reporter', 'json']);
  expect(rowsIn(stdout).find(({ id }) => id === 'RT-TOOLSET')).toMatchObject({
    status: 'could-not-run',
    reason: 'the runtime fetched no invalid toolset with operations, and no two with the same operation',
  });
});

test('a scenario that needs what the driver does not support is not run, and the report says so', async () => {
  await using folder = await temporaryFolder();
  const unable = `console.log('{"cannot":["view"]}');${BROKEN.replace("'result', ", '')}`.replaceAll(
    'write = line => process.stdout.write(',
    'write = line => line.includes(\'"can":\') || process.stdout.write(',
  );
  const command = `node ${await folder.write('driver.mjs', unable)}`;
  const out = folder.file('out');
  const names = ['result', 'view', 'view-types', 'child-threads'].flatMap(name => ['--scenario', name]);
  const json = folder.file('report.json');
  const reports = ['--reporter', 'human', '--reporter', `json:${json}`];
  const check = ['check', '--runtime', command, ...names, '--save', out, ...reports];
  const { status, stdout } = await runHere(check);
  expect(stdout).toContain(
    '  scenarios that need child-thread, which the driver does not support: child-threads\n' +
      '  scenarios that need view, which the driver does not support: view, view-types\n',
  );
  expect(stdout).toContain('✓ passed · 4 scenarios, 3 not applicable · 28 rules: ');
  expect(status).toBe(0);
  const { scenarios, ...report } = JSON.parse(await readFile(json, 'utf8'));
  expect(publishedSchema('check-report').faultsOf({ scenarios, ...report })).toEqual([]);
  expect(scenarios).toMatchObject([
    { id: 'result' },
    { id: 'child-threads', unsupported: ['child-thread'] },
    { id: 'view', unsupported: ['view'] },
    { id: 'view-types', unsupported: ['view'] },
  ]);
  const saved = await readFile(`${out}/view.ndjson`, 'utf8');
  expect(saved).toContain('"unsupported":["view"]');
  expect(saved).not.toContain('show_0"');
  const again = await runHere(['check', `${out}/view.ndjson`]);
  expect(again.stdout).toContain('scenarios that need view, which the driver does not support: view\n');
});

test('--list shows the scenarios', async () => {
  const { status, stdout } = await runHere(['check', '--runtime', '--list']);
  expect(status).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows.map(row => row.replace(/ .*/, ''))).toEqual(SCENARIOS.map(({ name }) => name));
  for (const [index, row] of rows.entries()) expect(row).toContain(SCENARIOS[index]?.checks.join(' '));
});

test('--only runs the scenarios that test the rule', async () => {
  const { stdout } = await runHere([
    'check',
    '--runtime',
    `node ${fileURLToPath(DRIVER)}`,
    '--only',
    'RT-MIGRATE',
  ]);
  expect(stdout).toContain('✓ passed · 2 scenarios · 1 rule: 1 passed');
});

describe('refused before anything runs', () => {
  test.each<readonly [string, readonly string[], RegExp]>([
    ['no command', ['--runtime'], /^error: --runtime needs the command of a driver\nhint: For example: /],
    [
      'an unknown scenario',
      ['--runtime', 'x', '--scenario', 'resutl'],
      /unknown scenario "resutl"\nhint: Did you mean "result"/,
    ],
    ['a URL', ['http://127.0.0.1:1', '--runtime', 'x'], /--runtime takes no URL/],
    [
      'an option of tools',
      ['--runtime', 'x', '--operation', 'a'],
      /^error: --operation cannot be combined with --runtime/,
    ],
    [
      'an option of transcripts',
      ['--runtime', 'x', '--side', 'tool'],
      /^error: --side cannot be combined with --runtime/,
    ],
    ['a model without a runtime', ['--model', 'openai'], /^error: --model needs a runtime/],
    [
      'a scenario for a tool',
      ['http://127.0.0.1:1', '--scenario', 'result'],
      /^error: --scenario needs a runtime/,
    ],
    [
      'a file in place of the folder',
      ['--runtime', 'x', '--save', fileURLToPath(DRIVER)],
      /^error: --save .*: it is not a folder\nhint: With --runtime/,
    ],
    [
      'a file in the path of the folder',
      ['--runtime', 'x', '--save', `${fileURLToPath(DRIVER)}/out`],
      /^error: could not create the folder .*: a part of its path is a file/,
    ],
    [
      'a folder in place of the log',
      ['--runtime', 'x', '--log', dirname(fileURLToPath(DRIVER))],
      /^error: cannot read .*: it is not a file\nhint: --log names/,
    ],
    ['stdout', ['--runtime', 'x', '--save', '-'], /^error: --save needs the name of a folder/],
    [
      'a rule of tools',
      ['--runtime', 'x', '--only', 'TOOL-ACK'],
      /^error: --only TOOL-ACK: this check covers the runtime only/,
    ],
    ['no driver to watch', ['--runtime', '--watch'], /^error: --watch needs --runtime <command>/],
    [
      'no file to watch',
      ['--runtime', 'no-such-program', '--watch'],
      /--watch: no file in the command: no-such-program\nhint: .*--runtime/,
    ],
  ])('%s', async (_, words, message) => {
    const { status, stderr } = await runHere(['check', ...words]);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });
});

test('--watch checks again when the driver changes', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('driver.mjs', BROKEN);
  const check = startHere(['check', '--runtime', `node ${file}`, '--scenario', 'result', '--watch', '-q']);
  await check.prints(/✗ failed[\s\S]*waiting for a change of the files of --runtime/);
  await folder.write('driver.mjs', BROKEN.replace("'result', ", ''));
  await check.prints(/✓ passed[\s\S]*/);
  check.interrupt();
  expect((await check.ended).status).toBe(130);
});

test('a report of one scenario only counts the rules that do not apply', async () => {
  const { stdout } = await runHere([
    'check',
    '--runtime',
    `node ${fileURLToPath(DRIVER)}`,
    '--scenario',
    'result',
  ]);
  expect(stdout).toMatch(/Not applicable\n {2}\d\d rules to this scenario\n\n✓ passed/);
});

test('expected failures, --only and --strict count as for a tool', async () => {
  await using folder = await temporaryFolder();
  const command = `node ${await folder.write('driver.mjs', BROKEN)}`;
  const known = await folder.write('known.yaml', 'RT-TEXT: our runtime adds a word, see issue 12\n');
  const check = ['check', '--runtime', command, '--scenario', 'result', '--only', 'RT-TEXT'];
  const { status, stdout } = await runHere([...check, '--strict', '--expected-failures', known]);
  expect(stdout).toContain('expected: our runtime adds a word, see issue 12');
  expect(stdout).toContain('1 scenario · 1 rule: 1 failed as expected');
  expect(status).toBe(3);
});
