import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { type MockHere, startMockHere } from '../support/mock.js';
import { ROOT } from '../support/program.js';

const CASES = `${ROOT}fixtures/cases/users.yaml`;
const ALICE = 'Bearer alice-0001';

let tool: MockHere;
beforeAll(async () => {
  tool = await startMockHere([`${ROOT}fixtures/examples/users.yaml`, '-q']);
});
afterAll(() => tool.stop());

const check = (env: Readonly<Record<string, string>>, ...more: readonly string[]) =>
  runHere(['check', tool.url, '--cases', CASES, '--only', 'TOOL-ALWAYS', ...more], { env });

interface Case {
  readonly status: string;
  readonly reason: string;
}

test('cases compare two users, and the calls of a thread follow each other; a transcript is judged alike, without credentials', async () => {
  await using folder = await temporaryFolder();
  const [save, report] = [folder.file('run.ndjson'), ['--reporter', 'json']];
  const live = await check({ ALICE, BOB: 'Bearer bob-00002' }, '--save', save, ...report);
  const { cases, verdict } = JSON.parse(live.stdout);
  expect(cases.map(({ status }: Case) => status)).toEqual(Array(6).fill('pass'));
  expect({ verdict, status: live.status, stderr: live.stderr }).toEqual({
    ...{ verdict: 'passed', status: 0 },
    stderr: '',
  });
  for (const text of [live.stdout, await readFile(save, 'utf8')])
    expect(text).not.toMatch(/alice-0001|bob-00002/);
  const saved = await runHere(['check', save, '--side', 'tool', '--cases', CASES, ...report]);
  expect(JSON.parse(saved.stdout).cases).toMatchObject(cases.map(({ status }: Case) => ({ status })));
});

test('a tool that lets anyone in fails the case of the other user', async () => {
  const { status, stdout } = await check({ ALICE, BOB: 'Bearer bob-00002' }, '-q');
  expect([status, stdout]).toEqual([0, expect.stringContaining('6 of 6 cases passed')]);
  const fooled = await check({ ALICE: 'Bearer nobody', BOB: 'Bearer bob-00002' }, '--reporter', 'json');
  const cases: readonly Case[] = JSON.parse(fooled.stdout).cases;
  expect(fooled.status).toBe(1);
  expect(cases.filter(each => each.status === 'fail').map(({ reason }) => reason)).toEqual([
    '$.outcome: wanted "success", got "error"; $.text: wanted "the note of alice", got "Error: only its owner may read a note; ask the owner"',
  ]);
});

test('a variable that is not set: exit 2, with its line and path, before anything is sent', async () => {
  const { status, stderr } = await check({ ALICE });
  expect(status).toBe(2);
  expect(stderr).toContain(
    `users.yaml:13:16 $.cases[1].headers.authorization: the environment variable BOB is not set`,
  );
});
