import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { temporaryFolder } from './support/folder.js';
import { startPeer } from './support/peers.js';
import { ROOT } from './support/program.js';

/** The composite action of .github/actions/check: its scripts are run as GitHub runs them. */

const FOLDER = join(ROOT, '.github/actions/check');

const actionSchema = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string() })),
  runs: z.object({
    using: z.literal('composite'),
    steps: z.array(
      z.strictObject({
        name: z.string(),
        shell: z.literal('bash'),
        env: z.record(z.string(), z.string()).optional(),
        run: z.string(),
      }),
    ),
  }),
});

const action = actionSchema.parse(parse(await readFile(join(FOLDER, 'action.yml'), 'utf8')));
const { inputs } = action;
const { steps } = action.runs;

type Inputs = Readonly<Record<string, string>>;

/** The variables of a step, with the inputs or their defaults. */
function variablesOf(env: Inputs, given: Inputs): Record<string, string> {
  const resolved = (expression: string) => {
    const name = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression)?.[1] ?? '';
    return given[name] ?? inputs[name]?.default ?? 'no such input';
  };
  return Object.fromEntries(Object.entries(env).map(([name, expression]) => [name, resolved(expression)]));
}

/** Runs the steps in a folder, until one fails. */
async function runAction(given: Inputs, cwd: string) {
  let status: number | null = 0;
  let stdout = '';
  for (const { run, env = {} } of steps) {
    if (status !== 0) break;
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
      cwd,
      env: { PATH: process.env['PATH'], PORT: '0', GITHUB_ACTION_PATH: FOLDER, ...variablesOf(env, given) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    [status] = await ended;
    stdout += out + err;
  }
  return { status, stdout };
}

test('every input reaches a script, as a variable and never in its text', () => {
  const used = steps.flatMap(({ env = {} }) => Object.values(env));
  expect(used.toSorted()).toEqual(
    Object.keys(inputs)
      .map(name => `\${{ inputs.${name} }}`)
      .toSorted(),
  );
  for (const { run, env = {} } of steps) {
    expect(run).not.toContain('${{');
    for (const name of Object.keys(env)) expect(run).toContain(`"$${name}"`);
  }
});

test('our own workflow passes with it', { retry: 2 }, async () => {
  const workflow = parse(await readFile(join(ROOT, '.github/workflows/ci.yml'), 'utf8'));
  const uses = Object.values<{ steps: { uses?: string; with?: Inputs }[] }>(workflow.jobs)
    .flatMap(job => job.steps)
    .filter(step => step.uses === './.github/actions/check');
  expect(uses).toHaveLength(1);
  const { command = '', cases = '', reporters = '', ...others } = uses[0]?.with ?? {};
  expect(others).toEqual({});
  await using folder = await temporaryFolder();
  const given = { command: command.replace('fixtures/', `${ROOT}$&`), cases: join(ROOT, cases), reporters };
  const { status, stdout } = await runAction(given, folder.path);
  expect(status, stdout).toBe(0);
  expect(stdout).toMatch(/^::notice .*passed/m);
  expect(await readFile(folder.file('check.xml'), 'utf8')).toMatch(/<testsuites [^>]*failures="0"/);
});

describe('the action', () => {
  test('checks a URL, and fails where a failure is expected but passes', async () => {
    await using folder = await temporaryFolder();
    const peer = await startPeer('plain');
    const file = await folder.write('known failures.yaml', 'TOOL-ACK: not yet\n');
    const given = {
      url: peer.url,
      'expected-failures': file,
      reporters: ' json:report.json \n\nmarkdown:a b.md\n',
    };
    const { status, stdout } = await runAction(given, folder.path).finally(peer.stop);
    expect(status, stdout).toBe(1);
    expect(await readFile(folder.file('report.json'), 'utf8')).toContain('TOOL-ACK');
    expect(existsSync(folder.file('a b.md'))).toBe(true);
  });

  test('without a command and a URL, fails with how to use check', async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await runAction({}, folder.path);
    expect(status).toBe(2);
    expect(stdout).toContain('error: nothing to check given');
  });

  test.each(['cases', 'expected-failures', 'url', 'reporters'])('runs no command in %s', async name => {
    await using folder = await temporaryFolder();
    const given = { url: ':1', [name]: '$(touch planted); touch planted # "; touch planted; "' };
    const { status } = await runAction(given, folder.path);
    expect(status).toBeGreaterThan(0);
    expect(existsSync(folder.file('planted'))).toBe(false);
  });
});
