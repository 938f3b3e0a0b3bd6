import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { publishedSchema } from '../../support/published-schema.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { ROOT, run } from '../support/program.js';

/** `check` of our own mock, as a process: all green, at the windows that users get. */
const CASES = `${ROOT}fixtures/cases/demo.yaml`;

it('the demo tool passes, with its cases, and stderr is empty', async () => {
  await using folder = await temporaryFolder();
  const [save, junit] = [folder.file('run.ndjson'), folder.file('check.xml')];
  const more = ['--save', save, '--reporter', `junit:${junit}`, '--reporter', 'json'];
  const { status, stdout, stderr } = await run([...(await headerCommand()), ...more], {
    cwd: dirname(CASES),
  });
  const report = JSON.parse(stdout);
  expect(report.checks.filter((row: { status: string }) => row.status === 'fail')).toEqual([]);
  expect(report.cases.map((each: { status: string }) => each.status)).toEqual(Array(4).fill('pass'));
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(await readFile(junit, 'utf8')).toContain('failures="0" errors="0"');
  await expectTheSame(save, report);
});

/** What the file of cases says of how it is used. */
async function headerCommand(): Promise<string[]> {
  const [first = ''] = (await readFile(CASES, 'utf8')).split('\n');
  return first.replace('# protocol-cli ', '').split(' ');
}

/** What it wrote is judged alike: a transcript is all there is to know. */
async function expectTheSame(save: string, live: { checks: Record<string, unknown>[] }): Promise<void> {
  const transcript = publishedSchema('transcript');
  const lines = (await readFile(save, 'utf8')).trimEnd().split('\n');
  expect(lines.flatMap(line => transcript.faultsOf(JSON.parse(line)))).toEqual([]);
  const saved = await runHere(['check', save, '--side', 'tool', '--cases', CASES, '--reporter', 'json']);
  const verdicts = (checks: Record<string, unknown>[]) => checks.map(({ id, status }) => `${id} ${status}`);
  expect(verdicts(JSON.parse(saved.stdout).checks)).toEqual(verdicts(live.checks));
}
