import { createLog } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Toolset } from '../../protocol/toolset.js';
import { troubleText, warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, dressLine } from '../../render/terminal/theme.js';
import { toolsetLines } from '../../render/toolset.js';
import { discover } from '../../runtime/discover.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { safeJson } from '../../util/redact-json.js';
import { visibleLine } from '../../util/visible.js';
import { confirmCommands, noServersText, reach, readRapConfig } from '../rap-config.js';
import {
  type ConfiguredTarget,
  type HeaderOptions,
  readCredentials,
  readHeaders,
  readTarget,
  type TargetOptions,
} from '../target.js';
import { type ExitStatus, type OnStop, statusOfFailure, stoppable, type Terminal } from '../terminal.js';

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
    throw new ProtocolCliError('usage', `invalid URL: ${rest[0]}`, {
      hint: 'Write http://host:port.',
    });
  if (target?.kind === 'endpoint') throw new ProtocolCliError('usage', 'an endpoint has no toolset');
  return stoppable(async (onStop, signal) => {
    const desk = { terminal, onStop, signal };
    if (!target) return listConfigured(options, desk);
    await list(target, options, desk);
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
    import('../invoke/idle-options.js'),
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

/** Lists every configured server; one that cannot be used does not keep the others from being listed. */
async function listConfigured(options: ToolsetOptions, desk: Desk): Promise<ExitStatus> {
  const { terminal, signal } = desk;
  const config = await readRapConfig(terminal);
  for (const warning of config.warnings) terminal.stderr.write(warningText(warning));
  if (config.targets.length === 0) terminal.stderr.write(`${visibleLine(noServersText(config))}\n`);
  if (!options.yes) await confirmCommands(config.targets, terminal, signal);
  let status: ExitStatus = 0;
  for (const each of config.targets) {
    try {
      await list(each, options, desk);
    } catch (error) {
      if (!(error instanceof ProtocolCliError) || signal.aborted) throw error;
      terminal.stderr.write(troubleText(error));
      status ||= statusOfFailure(error.code);
    }
  }
  return status;
}

interface Desk {
  readonly terminal: Terminal;
  readonly onStop: OnStop;
  readonly signal: AbortSignal;
}

async function list(
  target: ConfiguredTarget,
  options: ToolsetOptions,
  { terminal, onStop, signal }: Desk,
): Promise<void> {
  const client = createNodeClient();
  onStop(() => client.close());
  const onWarning = (message: string) => void terminal.stderr.write(warningText({ message }));
  const url = await reach(target, { onStop, signal, onWarning });
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
