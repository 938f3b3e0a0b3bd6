import type { Log } from '../../exchange/log.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { visibleLine } from '../../text/visible.js';
import { lazyClient } from '../../transport/lazy-client.js';
import { readCredentials } from '../headers.js';
import { reach } from '../reach.js';
import { deathText } from '../started-server.js';
import type { ServerTarget } from '../target.js';
import type { Desk } from './desk.js';
import type { CheckPlan } from './plan.js';
import { progressOn } from './progress.js';

const MAX_CALLBACK = 64 * 1024 * 1024;

/** Reaches a tool, and calls it with all that the probes know. @throws what the probes throw, or whoever starts the tool. */
export async function probe(target: ServerTarget, log: Log, desk: Desk): Promise<void> {
  const { plan, terminal, making, interrupted, onStop } = desk;
  const url = await reach(target, {
    onStop,
    signal: interrupted.signal,
    onDeath: death => log.emit({ kind: 'warned', message: deathText(death) }),
  });
  const client = lazyClient(async () =>
    (await import('../../transport/agent-client.js')).createAgentClient(),
  );
  onStop(() => client.close());
  const progress = progressOn(terminal, plan.flags.quiet === true);
  onStop(async () => progress.end());
  await making.probes({
    ...choicesOf(plan),
    wire: { client, log, credentials: readCredentials(plan.flags, url, terminal.env) },
    clock: making.clock,
    url,
    onConsent: consent => progress.aside(`visit this URL to go on: ${visibleLine(consent)}\n`),
    onProgress: (done, total) => progress.update(done, total),
    signal: interrupted.signal,
  });
  progress.end();
}

/** What the command line says of the probes. */
function choicesOf({ flags, cases, selection: { only, skip } }: CheckPlan) {
  const {
    callbackHost: host,
    callbackPort,
    callbackUrl,
    allowHost = [],
    operation = [],
    probeTimeout,
  } = flags;
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return {
    listener: { host, port: callbackPort, allowedHosts: allowHost, maxBody: MAX_CALLBACK, ...publicUrl },
    operations: operation,
    cases,
    wants: (id: RequirementId) => (only?.has(id) ?? true) && !skip?.has(id),
    probeTimeoutMs: probeTimeout,
  };
}
