import { ArgumentMaker } from '../../json-schema/example.js';
import type { McpVersion } from '../../protocol/mcp-versions.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { type Line, quote, say } from '../../render/line.js';
import { createTheme, styleLine } from '../../render/terminal/theme.js';
import { operationLines, toolsetLines } from '../../render/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { DISCOVERY_HINTS, Wire } from '../../runtime/wire.js';
import { writeOut } from '../../system/streams.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { LIMITS } from '../../util/limits.js';
import { redactJson } from '../../util/redact-json.js';
import { safeJson } from '../../util/safe-json.js';
import { shellWord } from '../../util/shell-word.js';
import { visibleLine } from '../../util/visible.js';
import { argumentWords } from '../argument-words.js';
import { type HeaderOptions, readHeaders } from '../headers.js';
import { usageError } from '../options.js';
import { confirmCommands, readRapConfig } from '../rap-config.js';
import { asTrouble, type Run, withRun } from '../run.js';
import { startTarget } from '../started-servers.js';
import {
  type ConfiguredTarget,
  readMcpTarget,
  readTarget,
  type Target,
  type TargetOptions,
  targetWords,
} from '../target.js';
import { colourOf, type ExitStatus, Prompts, type Terminal } from '../terminal.js';

interface ToolsetOptions extends TargetOptions, HeaderOptions {
  readonly output: 'text' | 'json';
  readonly color: boolean;
  readonly yes?: boolean;
  /** The URL of an MCP server, or a command that starts one. */
  readonly mcp?: string;
  readonly mcpVersion?: McpVersion;
}

interface ShownOptions extends ToolsetOptions {
  /** The only operation to show. */
  readonly operation: string | undefined;
}

/** The defaults of `invoke`, in ms and bytes. */
const MCP_LIMITS = { timeout: 60_000, maxBody: LIMITS.messageBytes.value };

/** Runs `toolset`: lists each server, one after the other, or shows one operation. */
export async function runToolset(
  words: readonly string[],
  options: ToolsetOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { mcp, demo, command } = options;
  const { target, rest } = readTarget(words, mcp === undefined ? options : {});
  const [operation, extra] = rest;
  if (extra !== undefined)
    throw usageError(`unexpected argument "${extra}"`, 'Give a URL, and at most one operation.');
  const url = target?.kind === 'url' ? target.url : undefined;
  const other = demo ? '--demo' : command === undefined ? url : '--command';
  if (mcp !== undefined && other !== undefined)
    throw usageError(
      `--mcp and ${other} exclude each other`,
      'Give one server: a URL, --demo, --command or --mcp.',
    );
  if (mcp === undefined && options.mcpVersion !== undefined) throw usageError('--mcp-version needs --mcp');
  const headers = readHeaders(options, terminal.env);
  return withRun({ terminal, secrets: secretsOfHeaders(headers) }, run => {
    const shown = { ...options, operation };
    const list = mcp === undefined ? listServers(target, shown, run) : listMcp(mcp, headers, shown, run);
    return run.interrupted.race(list);
  });
}

/** Lists one server, or those of `.infinity/rap.json`; a server that fails does not affect the others. */
async function listServers(target: Target | null, options: ShownOptions, run: Run): Promise<ExitStatus> {
  if (target?.kind === 'endpoint') throw usageError('an endpoint has no toolset');
  if (target) return listServer(target, options, run);
  const config = await readRapConfig(run.terminal);
  for (const warning of config.warnings) run.warn(warning);
  if (options.operation !== undefined && config.targets.length === 0)
    throw usageError(`invalid URL: ${options.operation}`, 'Write http://host:port.');
  if (config.targets.length === 0) run.stderr.write(`${visibleLine(config.emptyText)}\n`);
  if (!options.yes) await confirmCommands(config.targets, new Prompts(run));
  let status: ExitStatus = 0;
  for (const each of config.targets) {
    const listed = listServer(each, options, run);
    const own = await listed.catch(error => (run.signal.aborted ? 0 : run.fail(asTrouble(error))));
    status ||= own;
  }
  return status;
}

const HINTS = { ...DISCOVERY_HINTS, missing: `${DISCOVERY_HINTS.missing} For an MCP server, use --mcp.` };

async function listServer(target: ConfiguredTarget, options: ShownOptions, run: Run): Promise<ExitStatus> {
  const { log, onStop, signal, stderr, terminal } = run;
  const onRemark = (text: string) => stderr.write(`${visibleLine(text)}\n`);
  const url = await startTarget(target, { onStop, signal, onRemark });
  const wire = new Wire(log, run.openClient(), url, readHeaders(options, terminal.env));
  const { toolset, notes } = await run.keepNamesOf(wire, target).discover(HINTS);
  for (const message of notes) run.warn({ id: 'TOOL-DISCOVER', message });
  return printToolset(toolset, targetWords(target, url), options, run);
}

async function listMcp(
  given: string,
  headers: Readonly<Record<string, string>>,
  options: ShownOptions,
  run: Run,
): Promise<ExitStatus> {
  const { openServer } = await import('../invoke/mcp.js');
  const peer = readMcpTarget(given, options);
  const { mcpVersion: protocolVersion } = options;
  const server = await openServer({ ...peer, headers }, run, { ...MCP_LIMITS, protocolVersion });
  for (const message of server.notes()) run.warn({ message });
  const { name, endpoint, tools } = server;
  return printToolset(
    { name, endpoint, needsMigration: false, tools: [...tools] },
    ['--mcp', given],
    options,
    run,
  );
}

async function printToolset(
  toolset: Toolset,
  server: readonly string[],
  options: ShownOptions,
  { terminal, redactor }: Run,
): Promise<ExitStatus> {
  const { stdout } = terminal;
  const { operation } = options;
  const tool = operation === undefined ? null : toolOf(toolset, operation);
  const json = redactJson(safeJson(tool ?? toolset, 2), redactor);
  const theme = createTheme(colourOf(stdout, options, terminal));
  const example = tool && options.output === 'text' ? await exampleLine(JSON.parse(json), server) : [];
  const shown = () => (tool ? operationLines(JSON.parse(json), example) : toolsetLines(JSON.parse(json)));
  const lines = () => shown().map(line => styleLine(line, theme));
  await writeOut(
    stdout,
    options.output === 'json'
      ? `${json}\n`
      : lines()
          .map(line => `${line}\n`)
          .join(''),
  );
  return 0;
}

/** A command line that calls the operation with the least arguments that its schema allows. */
async function exampleLine({ name, inputSchema }: Tool, server: readonly string[]): Promise<Line> {
  const example = (await ArgumentMaker.for(inputSchema)).valid();
  if (!example.ok) return [say(`no example: ${visibleLine(example.reason)}`, 'dim')];
  const { words, options } = argumentWords(example.arguments);
  const all = ['protocol-cli', 'invoke', ...server, name, ...words, ...options];
  return quote(all.map(word => shellWord(word, process.platform)).join(' '), 'title');
}
