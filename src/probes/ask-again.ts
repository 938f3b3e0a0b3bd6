import { findDocument } from '../runtime/discover.js';
import type { Stimulus } from './call.js';
import type { Desk, Plan } from './desk.js';
import { cameBy } from './patience.js';
import { type Prober, proberFor } from './prober.js';
import type { Stopwatch } from './stopwatch.js';

/** Calls whose acknowledgement was late, made again: TOOL-ACK goes by these. */
const AGAIN: Plan = { id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true };
/** Each so often; of those that are late alone, too, so many: more of them say nothing new. */
const MOST = { times: 3, late: 3 };
/** How long a call's work may still disturb the next one. */
const WORK_MS = 250;

/**
 * This machine may have been busy, and not the tool: what was acknowledged late among many calls is called once more alone, until it is
 * in time. What the toolset takes at the same time tells how much of it is the call's own.
 */
export async function askAgain(
  desk: Desk,
  stopwatch: Stopwatch,
  mayRepeat: (operation: string) => boolean,
): Promise<void> {
  const prober = proberFor(desk, AGAIN);
  const again = stopwatch.late().filter(({ operation }) => mayRepeat(operation));
  let late = 0;
  for (const stimulus of again) {
    const outcome = await callAlone(desk, prober, stopwatch, stimulus);
    if (outcome === 'late') late++;
    if (outcome === 'gone' || late === MOST.late) return;
  }
}

/** `gone`: of a tool that does not answer any more there is nothing to be seen. */
async function callAlone(
  desk: Desk,
  prober: Prober,
  stopwatch: Stopwatch,
  stimulus: Stimulus,
): Promise<'in-time' | 'late' | 'gone'> {
  await askForToolset(desk);
  for (let time = 0; time < MOST.times && !desk.signal.aborted; time++) {
    const key = await callOnce(desk, prober, stimulus);
    await askForToolset(desk);
    if (!stopwatch.isAnswered(key)) return 'gone';
    if (!stopwatch.isLateAlone(key)) return 'in-time';
  }
  return 'late';
}

/** Nobody need consent again: what does not end by itself is closed in the end. */
async function callOnce(desk: Desk, prober: Prober, stimulus: Stimulus): Promise<string> {
  const { key, acknowledged, mailbox, converse } = prober.send(stimulus);
  await acknowledged;
  const someLetter = mailbox.until(letters => letters.length > 0);
  await cameBy(desk, WORK_MS, someLetter);
  await converse();
  return key;
}

/** Asks once more what the tool offers; however that ends, it is in the log. */
export async function askForToolset(desk: Desk): Promise<void> {
  const asked = findDocument(desk.wire, desk.base).catch(() => {});
  await cameBy(desk, desk.windowMs, asked);
}
