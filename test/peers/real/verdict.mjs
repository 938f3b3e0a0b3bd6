import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LATE_UNDER_LOAD } from '../late-under-load.mjs';

export const PROGRAM = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));

/** Far longer than a check takes, also on a busy machine. */
const CHECK_MS = 10 * 60_000;

/** Runs `check` with these arguments. @param failed rules that fail, with advice; `warnings` likewise */
export async function expectVerdict(args, { failed = {}, warnings = {} }) {
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-peers-'));
  try {
    const file = join(folder, 'report.json');
    const reporters = ['--reporter', 'human', '--reporter', `json:${file}`];
    const { stdout, stderr } = await runProgram(['check', ...args, ...reporters]);
    const report = await readFile(file, 'utf8').catch(() => assert.fail(stdout + stderr));
    const { checks } = JSON.parse(report);
    const idsOf = wanted =>
      checks
        .filter(({ status, reason }) => status === wanted && !LATE_UNDER_LOAD.test(reason))
        .map(({ id }) => id)
        .sort();
    const found = { failed: idsOf('fail'), warnings: idsOf('warn'), couldNotRun: idsOf('could-not-run') };
    const expected = {
      failed: Object.keys(failed).sort(),
      warnings: Object.keys(warnings).sort(),
      couldNotRun: [],
    };
    assert.deepEqual(found, expected, `unexpected verdict\n${stdout}${stderr}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export function runProgram(args, { cwd } = {}) {
  return new Promise(resolve => {
    const options = { maxBuffer: 64 * 1024 * 1024, timeout: CHECK_MS, cwd };
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, stdout, stderr }),
    );
  });
}
