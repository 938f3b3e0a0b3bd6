import { createLog } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Warning } from '../../protocol/requirements.js';
import { errorReport, warningText } from '../../render/outputs/trouble.js';
import { rulingOn } from '../../runtime/policy.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { REDACTED } from '../../util/redact.js';
import { safeJson } from '../../util/redact-json.js';
import { type ExitStatus, type OnStop, statusOfFailure, stoppable, type Terminal } from '../terminal.js';
import { type InvokeOptions, type InvokePlan, planInvoke } from './plan.js';
import { type Prepared, prepare } from './prepare.js';
import { curlOf, type DryRequest, gapsIn, loadPolicy, requestText, YOUR_CALLBACK } from './questions.js';
import { runInvoke } from './run.js';

/**
 * `--dry-run`: what would be sent, and the same as a curl line. Only discovery goes out: without it neither the endpoint
 * nor the types of the arguments are known. With `-o json` it is `{request: {method, url, headers, body}, curl, warnings}`.
 */
async function dryRun(plan: InvokePlan, terminal: Terminal): Promise<ExitStatus> {
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

/** What `invoke` loads once it is called: the words become a plan, the plan is shown or carried out. */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  if (options.interactive) {
    const { startWorkbench } = await import('../workbench/start.js');
    return startWorkbench(words, options, terminal);
  }
  try {
    if (options.mcp !== undefined) return await (await import('./mcp.js')).startMcp(words, options, terminal);
    if (options.watch && !options.dryRun)
      return await (await import('../watch-command.js')).runOnEachChange(options.command, terminal, () =>
        runInvoke(planInvoke(words, options), terminal),
      );
    const plan = planInvoke(words, options);
    return await (options.dryRun ? dryRun(plan, terminal) : runInvoke(plan, terminal));
  } catch (error) {
    // Whoever asked for an object gets one, however early it failed.
    const wantsReport = options.output === 'json' && options.dialect === undefined;
    if (wantsReport && error instanceof ProtocolCliError)
      await writeOut(terminal.stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}
