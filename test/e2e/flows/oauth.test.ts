import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRuntime, type Runtime } from '../../peers/runtime.mjs';
import { flowTools } from '../support/flow-tools.js';
import { arrivalsOf, folded } from '../support/folded.js';
import { type Here, runHere, startHere } from '../support/in-process.js';
import type { Ended } from '../support/program.js';
import { argv } from '../support/program.js';
import { invokeJsonHere, readReport, verdicts, warningIds } from '../support/report.js';

/** RT-OAUTH: the user visits a page, the tool goes on on its own. */
const tool = flowTools('plain', 'mock', 'odd');
let browser: Runtime;
beforeAll(async () => {
  browser = await openRuntime();
});
afterAll(() => browser.close());

const VISIT = /^visit this URL to continue: (\S+)$/m;
const REFUSED = 'Error: access was refused. Ask for it and call again.';

interface Visited extends Ended {
  readonly authUrl: string;
}

/** Calls, and visits the page that stderr names, as a person in a browser does. */
async function visited(decision: 'grant' | 'refuse', call: Here): Promise<Visited> {
  const authUrl = await call.prints(VISIT);
  await browser.visitConsent(authUrl, decision);
  return { ...(await call.ended), authUrl };
}

describe.concurrent.each(['plain', 'mock'] as const)('oauth, asked by %s', name => {
  it.each([
    ['grant', 0, 'signed in'],
    ['refuse', 5, REFUSED],
  ] as const)('%s: exit %i', async (decision, status, text) => {
    const ended = await visited(decision, startHere(argv`invoke ${tool(name).url} sign_in -o text`));
    expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status, stdout: text });
    expect(ended.authUrl.startsWith(`${tool(name).url}/`)).toBe(true);
  });

  it('-o json: the URL without its query', async () => {
    const ended = await visited('grant', startHere(argv`invoke ${tool(name).url} sign_in -o json`));
    const report = readReport(ended);
    const { origin, pathname } = new URL(ended.authUrl);
    expect(verdicts(report)).toEqual(['holds 200', 'settles 200']);
    expect(report.callbacks?.[0]).toMatchObject({ type: 'oauth', auth_url: origin + pathname });
    expect(ended.stdout).toContain(pathname);
    expect(ended.stdout).not.toContain(`${pathname}?`);
  });

  it('-o ndjson: the same, then the result', async () => {
    const ended = await visited('refuse', startHere(argv`invoke ${tool(name).url} sign_in -o ndjson`));
    const { exchange, faults } = folded(ended.stdout);
    const { pathname } = new URL(ended.authUrl);
    expect(ended.status).toBe(5);
    expect(faults).toEqual([]);
    expect(arrivalsOf(exchange)).toEqual(['oauth holds 200', 'tool_result settles 200']);
    expect(ended.stdout).toContain(pathname);
    expect(ended.stdout).not.toContain(`${pathname}?`);
  });

  it('-o plain in a pipe: the step has the URL without its query, stderr has it whole', async () => {
    const ended = await visited('grant', startHere(argv`invoke ${tool(name).url} sign_in -o plain`));
    const { origin, pathname } = new URL(ended.authUrl);
    expect(ended.stdout).toMatch(/^. visit \S+ to continue$/m);
    expect(ended.stdout).toContain(`visit ${origin}${pathname} to continue\n`);
    expect(ended.stdout).toContain('\nsigned in\n');
  });

  it('not visited: --timeout ends the call, and the error names the consent', async () => {
    const { status, report, stderr } = await invokeJsonHere(argv`${tool(name).url} sign_in --timeout 1s`);
    expect(status).toBe(7);
    expect(stderr).toMatch(VISIT);
    expect(report.error?.message).toContain('consent was not given within 1s');
    expect(report.outcome).toMatchObject({ type: 'timeout', basis: 'ours' });
  });

  it('not visited: without --timeout it waits until Ctrl-C, and the tool is notified', async () => {
    const id = randomUUID();
    const call = startHere(argv`invoke ${tool(name).url} sign_in --id ${id} -o json`);
    await call.prints(VISIT);
    call.interrupt();
    const ended = await call.ended;
    const report = readReport(ended);
    expect(ended.status).toBe(130);
    expect(report.outcome).toMatchObject({ type: 'canceled', basis: 'ours' });
    const thread = report.invocation?.group_id ?? '';
    expect(await tool(name).hears('cancel', { tool_call_id: id })).toEqual({
      thread_id: thread,
      tool_call_id: id,
    });
    await tool(name).hears('close', { thread_id: thread });
  });
});

describe.concurrent.each([
  ['odd', 0, 'consent_in_the_open done'],
  ['mock', 5, 'Error: '],
] as const)('oauth over http: elsewhere, asked by %s', (name, status, text) => {
  it('is refused with 400, and the URL is not shown', async () => {
    const ended = await invokeJsonHere(argv`${tool(name).url} consent_in_the_open`);
    expect(ended.status).toBe(status);
    expect(verdicts(ended.report)).toEqual(['rejected 400', 'settles 200']);
    expect(warningIds(ended.report)).toEqual(['TOOL-POST']);
    expect(ended.report.llm?.text.startsWith(text)).toBe(true);
    expect(ended.stderr).toMatch(/\$\.auth_url: must be an https URL/);
    expect(ended.stderr).not.toMatch(VISIT);
  });

  it('-o plain: the same', async () => {
    const { stdout } = await runHere(argv`invoke ${tool(name).url} consent_in_the_open -o plain`);
    expect(stdout).toMatch(/✗ callback rejected with 400: .*auth_url/);
    expect(stdout).not.toContain('visit ');
  });
});
