import { createLog } from '../../exchange/log.js';
import { warningText } from '../../reporters/trouble.js';
import { rulingOn } from '../../runtime/policy.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import { REDACTED } from '../../text/redact.js';
import { visibleLine } from '../../text/visible.js';
import { createNodeClient } from '../../transport/node-client.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import { type OnStop, stoppable } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { loadPolicy } from './consent.js';
import type { InvokePlan } from './plan.js';
import { prepare } from './prepare.js';

/**
 * `--dry-run`: what would be sent, and the same as a curl line. Only discovery goes out: without it neither the endpoint
 * nor the types of the arguments are known.
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
  if (!plan.options.quiet) for (const note of prepared.notes) terminal.stderr.write(warningText(note));
  await writeOut(
    terminal.stdout,
    requestText(
      visibleLine(prepared.endpoint),
      ['content-type: application/json', ...sent.map(name => `${name}: ${REDACTED}`)],
      invocation,
    ),
  );
  const { policy: file } = plan.options;
  const ruling = file === undefined ? null : rulingOn(await loadPolicy(file), prepared.tool);
  if (!ruling || ruling.allowed) return 0;
  terminal.stderr.write(warningText({ message: `it would not be sent: ${ruling.reason}` }));
  return statusOfFailure('denied');
}

function requestText(endpoint: string, headers: readonly string[], invocation: object): string {
  const curl = [
    'curl -X POST',
    quoted(endpoint),
    ...headers.map(header => `-H ${quoted(header)}`),
    `-d ${quoted(safeJson(invocation))}`,
  ];
  return `POST ${endpoint}\n${headers.join('\n')}\n\n${safeJson(invocation, 2)}\n\n${curl.join(' \\\n  ')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
