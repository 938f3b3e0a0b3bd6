import { createLog } from '../../exchange/log.js';
import type { Warning } from '../../protocol/requirements.js';
import { warningText } from '../../reporters/trouble.js';
import { rulingOn } from '../../runtime/policy.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import { REDACTED } from '../../text/redact.js';
import { createNodeClient } from '../../transport/node-client.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import { type OnStop, stoppable } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { loadPolicy } from './consent.js';
import { curlOf, type DryRequest, gapsIn, requestText, YOUR_CALLBACK } from './dry-request.js';
import type { InvokeOptions, InvokePlan } from './plan.js';
import { type Prepared, prepare } from './prepare.js';

/**
 * `--dry-run`: what would be sent, and the same as a curl line. Only discovery goes out: without it neither the endpoint
 * nor the types of the arguments are known. With `-o json` it is `{request: {method, url, headers, body}, curl, warnings}`.
 */
export async function dryRun(plan: InvokePlan, terminal: Terminal): Promise<ExitStatus> {
  return stoppable((onStop, signal) => show(plan, terminal, onStop, signal));
}

async function show(
  plan: InvokePlan,
  terminal: Terminal,
  onStop: OnStop,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const client = createNodeClient();
  onStop(() => client.close());
  const log = createLog(systemClock.now);
  const prepared = await prepare(plan, {
    log,
    client,
    terminal,
    signal,
    aside: work => work(),
    onStop,
  });
  const { id, callId, groupId, userId, ancestors } = plan.identity;
  const invocation = {
    operation: prepared.tool.name,
    arguments: prepared.args,
    id,
    call_id: callId,
    callback_url: `${plan.listener.publicUrl ?? 'http://127.0.0.1:PORT'}/callback/TOKEN`,
    group_id: groupId,
    ...(ancestors.length > 0 && { thread_ancestors: ancestors }),
    ...(userId !== undefined && { user_id: userId }),
  };
  const { headers, origin } = prepared.wire.credentials;
  const sent = new URL(prepared.endpoint).origin === origin ? Object.keys(headers) : [];
  const request: DryRequest = {
    method: 'POST',
    url: prepared.endpoint,
    headers: {
      'content-type': 'application/json',
      ...Object.fromEntries(sent.map(name => [name, REDACTED])),
    },
    body: invocation,
  };
  const reason = await refusalOf(plan, prepared, terminal);
  const refused = reason === null ? [] : [{ message: `it would not be sent: ${reason}` }];
  await tell(plan.options, terminal, { request, notes: prepared.notes, refused });
  return reason === null ? 0 : statusOfFailure('denied');
}

/** Why the policy would not let it be sent; null where it would. */
async function refusalOf(
  { options: { policy: file } }: InvokePlan,
  { tool }: Prepared,
  terminal: Terminal,
): Promise<string | null> {
  const ruling = file === undefined ? null : rulingOn(await loadPolicy(file, terminal), tool);
  return ruling && !ruling.allowed ? ruling.reason : null;
}

interface Told {
  readonly request: DryRequest;
  readonly notes: readonly Warning[];
  readonly refused: readonly Warning[];
}

/** One object where that was asked for; else what a person reads. */
async function tell(
  { output, quiet }: InvokeOptions,
  { stdout, stderr }: Terminal,
  { request, notes, refused }: Told,
): Promise<void> {
  const warnings = [...notes, ...refused];
  const byHand = { ...request, body: { ...request.body, callback_url: YOUR_CALLBACK } };
  const report = { request, curl: curlOf(byHand), warnings };
  await writeOut(stdout, output === 'json' ? `${safeJson(report, 2)}\n` : requestText(request, byHand));
  for (const warning of quiet ? refused : warnings) stderr.write(warningText(warning));
  if (output !== 'json' && !quiet && refused.length === 0)
    stderr.write(`before you run the curl, put in your ${gapsIn(byHand).join(', ')}\n`);
}
