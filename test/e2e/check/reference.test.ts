import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';

/** A tool that behaves as the reference's do, in a process of its own: what `check` says of it. */

const PEER = fileURLToPath(new URL('../../peers/reference-tool.mjs', import.meta.url));

const reportSchema = z.object({
  checks: z.array(z.object({ id: z.string(), status: z.string(), reason: z.string() })),
});

async function check(env: string, ...more: string[]) {
  const command = ['--command', `${env} '${process.execPath}' '${PEER}'`];
  const { status, stdout } = await runHere(['check', ...command, '--reporter', 'json', ...more]);
  const { checks } = reportSchema.parse(JSON.parse(stdout));
  const ofStatus = (wanted: string) => checks.filter(each => each.status === wanted).map(({ id }) => id);
  return { status, ofStatus, reasonOf: (id: string) => checks.find(each => each.id === id)?.reason };
}

describe.concurrent("a tool like the reference's", () => {
  test('OK bodies and null members are warnings, an acknowledgement body is a note', async () => {
    const { status, ofStatus, reasonOf } = await check('NOTICES=ok', '--probe-timeout', '3s');
    expect(ofStatus('fail')).toEqual([]);
    expect(ofStatus('could-not-run')).toEqual([]);
    expect(ofStatus('warn')).toEqual(['TOOL-POST', 'TOOL-CANCEL', 'TOOL-CLOSE', 'TOOL-DISCOVER']);
    expect(reasonOf('TOOL-POST')).toMatch(/^null counts as absent for an optional member/);
    expect(reasonOf('TOOL-ASYNC')).toBe('the acknowledgement has a body, which no runtime reads');
    expect(status).toBe(0);
  });

  test('missing notice routes are warnings', async () => {
    const only = ['--only', 'TOOL-CLOSE', '--only', 'TOOL-CANCEL'];
    const { status, ofStatus, reasonOf } = await check('NOTICES=missing', ...only);
    expect(ofStatus('warn')).toEqual(['TOOL-CANCEL', 'TOOL-CLOSE']);
    expect(reasonOf('TOOL-CLOSE')).toBe('/close_thread answered 404');
    expect(status).toBe(0);
  });

  test('a server that dies of a notice fails the rule of the notice, and no rule of a call', async () => {
    const { status, ofStatus, reasonOf } = await check('NOTICES=dies', '--probe-timeout', '2s');
    expect(ofStatus('fail')).toEqual(['TOOL-CLOSE']);
    expect(reasonOf('TOOL-CLOSE')).toMatch(/^the tool stopped responding after \/close_thread/);
    expect(status).toBe(1);
  });

  test('a server that never calls back fails, and the report names the window', async () => {
    await using folder = await temporaryFolder();
    const file = folder.file('report.txt');
    const reporter = ['--reporter', `human:${file}`];
    const { status, ofStatus, reasonOf } = await check('WORKS=no', '--probe-timeout', '2s', ...reporter);
    expect(ofStatus('fail')).toContain('TOOL-ALWAYS');
    expect(reasonOf('TOOL-ALWAYS')).toMatch(/^0 of \d+ calls got a result within 2s/);
    expect(status).toBe(1);
    expect(ofStatus('could-not-run').length).toBeGreaterThan(9);
    const report = await readFile(file, 'utf8');
    expect(report).toContain(
      'Notes\n  no callback came to a callback URL within 2s (--probe-timeout); until one came, each further call was awaited for 1s\n',
    );
    expect(report).toMatch(
      /\n\nCould not run, since another rule failed\n {2}TOOL-ALWAYS failed: TOOL-POST, .*\n\n/,
    );
    expect(report).not.toMatch(/^\? TOOL-/m);
  });
});
