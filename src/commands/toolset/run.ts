import { colourLevel } from '../../dress/colour-level.js';
import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { ProtocolCliError } from '../../errors.js';
import { createLog } from '../../exchange/log.js';
import type { Toolset } from '../../protocol/toolset.js';
import { warningText } from '../../reporters/trouble.js';
import { discover } from '../../runtime/discover.js';
import { toolsetLines } from '../../story/toolset-lines.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import { createNodeClient } from '../../transport/node-client.js';
import { confirmCommands } from '../confirm-commands.js';
import type { ExitStatus } from '../exit-status.js';
import { type HeaderOptions, readCredentials, readHeaders } from '../headers.js';
import { type OnStop, stoppable } from '../interruption.js';
import { reach } from '../reach.js';
import { configuredTargets, readTarget, type ServerTarget, type TargetOptions } from '../target.js';
import type { Terminal } from '../terminal.js';

export interface ToolsetOptions extends TargetOptions, HeaderOptions {
  readonly output: 'text' | 'json';
  readonly color: boolean;
  readonly yes?: boolean;
  /** The URL of an MCP server, or a command that starts one. */
  readonly mcp?: string;
}

/** `toolset`: every tool server meant, one after the other. */
export async function runToolset(
  url: string | undefined,
  options: ToolsetOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  if (options.mcp !== undefined) return runMcpToolset(url, options.mcp, options, terminal);
  const { target, rest } = readTarget(url === undefined ? [] : [url], options);
  if (rest.length > 0)
    throw new ProtocolCliError('usage', `"${rest[0]}" is no URL`, {
      hint: 'A tool server is given as http://host:port.',
    });
  if (target?.kind === 'endpoint') throw new ProtocolCliError('usage', 'an endpoint has no toolset');
  return stoppable(async (onStop, signal) => {
    const targets = target ? [target] : await configuredTargets([terminal.cwd, terminal.home]);
    if (!target && !options.yes) await confirmCommands(targets, terminal, signal);
    for (const each of targets) await list(each, options, { terminal, onStop, signal });
    return 0;
  });
}

/** Ms and bytes: what `invoke` allows by default. */
const LIMITS = { timeout: 60_000, maxBody: 50 * 1024 * 1024 };

/** `toolset --mcp`: the tools of an MCP server. */
async function runMcpToolset(
  url: string | undefined,
  given: string,
  options: ToolsetOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { demo, command } = options;
  const other = demo ? '--demo' : command === undefined ? url : '--command';
  if (other !== undefined)
    throw new ProtocolCliError('usage', `--mcp and ${other} exclude each other`, {
      hint: 'Give one server: a URL, --demo, --command or --mcp.',
    });
  const [{ readMcpTarget }, { refuseHeaders }, { openServer }] = await Promise.all([
    import('../invoke/mcp/target.js'),
    import('../invoke/mcp/refuse.js'),
    import('../invoke/mcp/reach.js'),
  ]);
  const peer = readMcpTarget(given);
  refuseHeaders(peer, [...(options.header ? ['--header'] : []), ...(options.bearer ? ['--bearer'] : [])]);
  return stoppable(async onStop => {
    const headers = readHeaders(options, terminal.env);
    const server = await openServer({ ...peer, headers }, LIMITS, {
      log: createLog(systemClock.now),
      clock: systemClock,
      onStop,
      onWait: text => void terminal.stderr.write(text),
    });
    const { server: name, endpoint, tools } = server;
    for (const message of server.notes()) terminal.stderr.write(warningText({ message }));
    await tell({ name, endpoint, needsMigration: false, tools: [...tools] }, options, terminal);
    return 0;
  });
}

interface Desk {
  readonly terminal: Terminal;
  readonly onStop: OnStop;
  readonly signal: AbortSignal;
}

async function list(
  target: ServerTarget,
  options: ToolsetOptions,
  { terminal, onStop, signal }: Desk,
): Promise<void> {
  const client = createNodeClient();
  onStop(() => client.close());
  const url = await reach(target, onStop, signal);
  const wire = {
    client,
    log: createLog(systemClock.now),
    credentials: readCredentials(options, url, terminal.env),
  };
  const { toolset, notes } = await discover(wire, url);
  for (const message of notes) terminal.stderr.write(warningText({ id: 'TOOL-DISCOVER', message }));
  await tell(toolset, options, terminal);
}

async function tell(toolset: Toolset, options: ToolsetOptions, terminal: Terminal): Promise<void> {
  const text = options.output === 'json' ? safeJson(toolset, 2) : listing(toolset, options, terminal);
  await writeOut(terminal.stdout, `${text}\n`);
}

function listing(toolset: Toolset, { color }: ToolsetOptions, { stdout, env }: Terminal): string {
  const theme = createTheme(colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color }));
  return toolsetLines(toolset)
    .map(line => dressLine(line, theme))
    .join('\n');
}
