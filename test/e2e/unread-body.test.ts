import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Behaviour, resultFor, startTool } from './support/own-tool.js';
import { argv } from './support/program.js';
import { invokeJsonHere, verdictsIn } from './support/report.js';

const BODY = '{"text":"the result, where no one looks for it, and where it is of no use to anybody"}';
const UNREAD = {
  id: 'TOOL-ASYNC',
  message: `the acknowledgement carried a body of ${BODY.length} bytes, which is ignored; POST the result to callback_url`,
};

/** What becomes of a call of such a tool, of what was saved of it, and of the tool itself. */
async function judged(behaviour: Behaviour) {
  await using tool = await startTool({ greet: behaviour });
  await using folder = await temporaryFolder();
  const saved = folder.file('ack.ndjson');
  const { report } = await invokeJsonHere(argv`${tool.url} greet --timeout 400ms --save ${saved}`);
  const rule = ['--only', 'TOOL-ASYNC', '--reporter', 'json'];
  const later = await runHere(argv`check ${saved} ${rule}`);
  const calling = ['--operation', 'greet', '--probe-timeout', '400ms'];
  const live = await runHere(argv`check ${tool.url} ${rule} ${calling}`);
  return { report, verdicts: [verdictsIn(later.stdout), verdictsIn(live.stdout)] };
}

describe.concurrent('TOOL-ASYNC: a result in the acknowledgement, chunked or with a length', () => {
  describe.each([
    ['in chunks', {}],
    ['announced', { 'content-length': String(BODY.length) }],
  ])('%s', (_, headers) => {
    it('only there: the call explains why it has no result, and both checks fail', async () => {
      const { report, verdicts } = await judged({ headers, body: BODY });
      expect(report.error).toMatchObject({
        code: 'timeout',
        message: expect.stringContaining(`acknowledged with 200, and a body of ${BODY.length} bytes`),
        hint: expect.stringMatching(
          /^The body of the 200 \(\d+ bytes\) is ignored; the tool must POST the result to callback_url\. Check that /,
        ),
      });
      expect(report.warnings).toContainEqual(UNREAD);
      expect(verdicts).toEqual([{ fail: ['TOOL-ASYNC'] }, { fail: ['TOOL-ASYNC'] }]);
    });

    it('and in a callback: a warning, also in both checks', async () => {
      const { report, verdicts } = await judged({
        headers,
        body: BODY,
        callbacks: invocation => [resultFor(invocation, 'done')],
      });
      expect(report.error).toBeUndefined();
      expect(report.warnings).toContainEqual(UNREAD);
      expect(verdicts).toEqual([{ warn: ['TOOL-ASYNC'] }, { warn: ['TOOL-ASYNC'] }]);
    });
  });
});
