import { createLog } from '../../../exchange/log.js';
import { warningText } from '../../../reporters/trouble.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import { rulingOn } from '../../../runtime/policy.js';
import { systemClock } from '../../../system/clock.js';
import { writeOut } from '../../../system/output.js';
import { safeJson } from '../../../text/json-safe.js';
import { REDACTED } from '../../../text/redact.js';
import { type ExitStatus, statusOfFailure } from '../../exit-status.js';
import { stoppable } from '../../interruption.js';
import type { Terminal } from '../../terminal.js';
import { loadPolicy } from '../consent.js';
import { curlOf, type DryRequest, requestText } from '../dry-request.js';
import type { InvokePlan } from '../plan.js';
import { notesSoFar, type Reached, reachMcp } from './reach.js';

/** `--dry-run --mcp`: the message that would be sent. The server is asked for its tools, and no tool is called. */
export async function dryRunMcp(plan: InvokePlan, peer: McpPeer, terminal: Terminal): Promise<ExitStatus> {
  return stoppable(async onStop => {
    const log = createLog(systemClock.now);
    const reached = await reachMcp(plan, peer, {
      log,
      terminal,
      onStop,
      clock: systemClock,
      onWait: text => void terminal.stderr.write(text),
    });
    const { policy: file } = plan.options;
    const ruling = file === undefined ? null : rulingOn(await loadPolicy(file, terminal), reached.tool);
    const refusal = ruling && !ruling.allowed ? [`it would not be sent: ${ruling.reason}`] : [];
    await tell(plan, reached, terminal, refusal);
    return refusal.length === 0 ? 0 : statusOfFailure('denied');
  });
}

async function tell(
  { options: { output, quiet } }: InvokePlan,
  reached: Reached,
  { stdout, stderr }: Terminal,
  refusals: readonly string[],
): Promise<void> {
  const refused = refusals.map(message => ({ message }));
  const warnings = [...notesSoFar(reached), ...refused];
  await writeOut(
    stdout,
    output === 'json' ? `${safeJson({ ...reportOf(reached), warnings }, 2)}\n` : textOf(reached),
  );
  for (const warning of quiet ? refused : warnings) stderr.write(warningText(warning));
}

/** Over stdio there is neither a URL nor a header, and nothing for curl. */
function textOf(reached: Reached): string {
  const { peer } = reached;
  if (peer.kind === 'http') return requestText(requestOf(reached));
  return `${safeJson(messageOf(reached), 2)}\n`;
}

function reportOf(reached: Reached): object {
  if (reached.peer.kind === 'stdio') return { request: { body: messageOf(reached) }, curl: null };
  const request = requestOf(reached);
  return { request, curl: curlOf(request) };
}

function requestOf(reached: Reached): DryRequest {
  const { peer, server } = reached;
  return {
    method: 'POST',
    url: peer.name,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...Object.fromEntries(Object.keys(server.headers).map(name => [name, REDACTED])),
    },
    body: messageOf(reached),
  };
}

function messageOf({ tool, args }: Reached): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool.name, arguments: args } };
}
