import { expect, test } from 'vitest';
import { jsonRepeats } from '../../../src/render/outputs/repeats.js';
import type { Ending, Reporter } from '../../../src/render/outputs/reporter.js';
import { createRedactor } from '../../../src/util/redact.js';
import { call, eventsOf, INVOCATION, type Moment, untrackedRequest } from '../../events/build.js';
import { report } from '../paper.js';

/** A call, and the notice that its thread is over, with a status of its own. */
function callInThread(id: string, group_id: string, closing: number): Moment[] {
  const sent = call({ invocation: { ...INVOCATION, id, group_id } });
  return [
    ...sent.map(moment => ({ ...moment, leg: `call ${id}`, calls: [id], thread: group_id })),
    ...untrackedRequest('close', closing).map(moment => ({
      ...moment,
      leg: `close ${id}`,
      thread: group_id,
    })),
  ];
}

/** Settles each of the calls. */
function settlingAll(reporter: Reporter): Reporter {
  const settled = async (ending: Ending) => {
    for (const exchange of ending.history.exchanges.values())
      await reporter.settled?.({ ...ending, exchange });
  };
  return { ...reporter, settled };
}

test('a notice that failed is warned of where it belongs, and once among the warnings of all', async () => {
  const { stdout } = await report(
    (history, paper) => settlingAll(jsonRepeats(history, paper, createRedactor(), new Set(['text']))),
    eventsOf(callInThread('good', 'thread_good', 200), callInThread('bad', 'thread_bad', 500)),
  );
  const warning = { id: 'TOOL-CLOSE', message: '/close_thread was answered 500 instead of 200' };
  expect(JSON.parse(stdout)).toMatchObject({
    calls: [
      { invocation: { id: 'good' }, warnings: [] },
      { invocation: { id: 'bad' }, warnings: [warning] },
    ],
    warnings: [warning],
  });
});
