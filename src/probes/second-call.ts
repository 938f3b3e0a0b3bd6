import type { Probed, Stimulus } from './call.js';
import type { Desk } from './desk.js';
import { came, isSubscription } from './mailbox.js';
import { cameBy } from './patience.js';
import { proberFor } from './prober.js';

/** A subscription that is followed may end by itself: what a cancel does is seen by another one, at the same time. */
export async function callToCancel(desk: Desk, stimulus: Stimulus, { mailbox }: Probed): Promise<void> {
  if (!desk.wants('TOOL-SUB')) return;
  await cameBy(desk, desk.windowMs, mailbox.until(came('tool_result')));
  if (desk.signal.aborted || !mailbox.letters.some(isSubscription)) return;
  const plan = { id: `subscription ${stimulus.operation}`, checks: [] };
  await proberFor(desk, plan).call({ ...stimulus, isFollowed: false });
}
