import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkCommand } from '../../src/commands/check/command.js';
import { readCases } from '../../src/fixtures/cases/read-cases.js';
import { readExpectedFailures } from '../../src/fixtures/expected-failures/read-failures.js';
import { blocksOf } from './examples.js';

const readme = await readFile('README.md', 'utf8');
const fileNamed = (name: string) =>
  blocksOf(readme, 'yaml').find(block => block.startsWith(`# ${name}\n`)) ?? '';

test('the cases and the expected failures are sound', async () => {
  expect(await readCases({ path: 'cases.yaml', text: fileNamed('cases.yaml') })).toHaveLength(1);
  const known = await readExpectedFailures({ path: 'known.yaml', text: fileNamed('known.yaml') });
  expect(known).toMatchObject([{ id: 'TOOL-RETRY', place: 'known.yaml:2' }]);
});

test('the job is YAML, and uses flags that exist', () => {
  const job = parse(fileNamed('.github/workflows/tool.yml'));
  const line: string = job.jobs.check.steps.at(3).run;
  const flags = checkCommand(async () => {}).options.map(({ long }) => long);
  expect(line).toContain('check --command');
  for (const [flag] of line.matchAll(/--[a-z-]+/g)) expect(flags).toContain(flag);
});
