import type { Rate } from '../../mock/limits.js';
import type { MockToolOptions } from '../../mock/mock-tool.js';
import { type ServerFlags, type ServerOutput, usage } from '../options.js';
import { checkReports, type VerificationRequest } from '../reports.js';
import { chooseServerOutput, splitCommand } from '../run-server.js';
import { PROGRAM, type Terminal } from '../terminal.js';

type McpTransport = 'stdio' | 'http';

/** The flags as commander gives them. */
export interface MockToolFlags extends ServerFlags {
  readonly mcp?: McpTransport;
  /** Options that were set on the command line: `--save`. */
  readonly given?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  /** Of transcripts. */
  readonly speed?: number;
  /** File to write the transcripts to as fixtures; - is stdout. */
  readonly export?: string;
  readonly demo?: true;
  readonly watch?: true;
  readonly allowRepeats?: true;
  readonly rateLimit?: Rate;
  readonly allowOrigin?: readonly string[];
  readonly allowCallback?: readonly string[];
  readonly maxBody: number;
  readonly retries: number;
  readonly maxPending: number;
  readonly drain: number;
  readonly journal?: string;
  readonly fsync?: true;
  readonly keep: number;
  readonly verify?: true;
  readonly report?: readonly VerificationRequest[];
  readonly output?: ServerOutput;
}

export interface MockToolPlan {
  /** Fixture files and folders; none serves the demo. */
  readonly files: readonly string[];
  /** The command to run against the mock; null serves until it is stopped. */
  readonly command: readonly string[] | null;
  readonly output: ServerOutput;
  /** Null for RAP. */
  readonly mcp: McpTransport | null;
  readonly isVerified: boolean;
  readonly reports: readonly VerificationRequest[];
  readonly flags: MockToolFlags;
  readonly tool: Omit<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'>;
}

const EXAMPLE = 'protocol-cli mock-tool fixtures.yaml -- npm test';

/** @throws ProtocolCliError `usage`. */
export function readPlan(words: readonly string[], flags: MockToolFlags, terminal: Terminal): MockToolPlan {
  const { files, command } = splitCommand(words, terminal, EXAMPLE);
  checkExportFlags(files, flags, command !== null);
  checkFlags(files, flags);
  checkMcpFlags(flags, command !== null);
  const { output: asked, mcp = null, report: reports = [], verify } = flags;
  const ndjsonHint = 'Ask GET /__mock__/journal with Accept: application/x-ndjson instead.';
  const request = { output: asked, command, prefersScreen: mcp === null, ndjsonHint };
  const output = chooseServerOutput(request, terminal);
  checkReports(reports, command !== null || output === 'ndjson' || mcp === 'stdio');
  const isVerified = verify === true || command !== null;
  return { files, command, output, mcp, isVerified, reports, flags, tool: toolOptions(flags) };
}

/** Options that `--export` understands; it writes a file and serves nothing. */
const OF_EXPORTS = ['--export', '--speed', '--no-color', '--quiet'];

/** @throws ProtocolCliError `usage`. */
function checkExportFlags(
  files: readonly string[],
  { export: target, given = [] }: Pick<MockToolFlags, 'export' | 'given'>,
  hasCommand: boolean,
): void {
  if (target === undefined) return;
  if (hasCommand)
    throw usage('--export starts no server for a command', 'Export first, then serve the exported file.');
  const others = given.filter(option => !OF_EXPORTS.includes(option));
  if (others.length > 0)
    throw usage(`--export starts no server; these options need one: ${others.join(', ')}`, 'Leave them out.');
  if (files.length === 0)
    throw usage(
      '--export needs a transcript',
      'For example: protocol-cli mock-tool run.ndjson --export fixtures.yaml',
    );
}

/** Options that exclude each other. */
function checkFlags(
  files: readonly string[],
  { watch, demo, fsync, journal, keep, handlers }: MockToolFlags,
) {
  if (watch && files.length === 0) throw usage('--watch needs fixture files to watch');
  if (demo && (files.length > 0 || handlers !== undefined))
    throw usage('--demo cannot be combined with fixtures or --handlers', 'Leave out --demo or the others.');
  if (fsync && journal === undefined) throw usage('--fsync needs a journal', 'Add --journal <file>.');
  if (keep === 0) throw usage('--keep must be at least 1');
}

function toolOptions(flags: MockToolFlags): MockToolPlan['tool'] {
  const { seed, rateLimit, journal, fsync = false } = flags;
  return {
    host: flags.host,
    port: flags.port,
    allowHosts: flags.allowHost ?? [],
    allowCallbacks: flags.allowCallback ?? [],
    maxBody: flags.maxBody,
    retries: flags.retries,
    maxPending: flags.maxPending,
    drainMs: flags.drain,
    keep: flags.keep,
    allowRepeats: flags.allowRepeats === true,
    program: PROGRAM,
    ...(seed !== undefined && { seed }),
    ...(rateLimit && { rateLimit }),
    ...(journal !== undefined && { journal: { path: journal, sync: fsync } }),
  };
}

/** Options about callbacks, which MCP does not have. */
const OF_CALLBACKS = [
  ...['--allow-callback', '--retries', '--max-pending', '--journal', '--fsync', '--allow-repeats'],
];
/** Options about an HTTP server. */
const OF_HTTP = ['--host', '--port', '--allow-host', '--allow-origin'];

/** @throws ProtocolCliError `usage` for options that make no sense with `--mcp`. */
function checkMcpFlags({ mcp, given = [], output }: MockToolFlags, hasCommand: boolean): void {
  if (mcp === undefined && given.includes('--allow-origin'))
    throw usage('--allow-origin is for --mcp http', 'Web pages cannot call a RAP tool.');
  if (mcp === undefined) return;
  refuse(given, OF_CALLBACKS, 'these options are for callbacks, which MCP does not have');
  if (output === 'ui') throw usage('-o ui does not show MCP', 'Use -o plain.');
  if (mcp === 'http') return;
  refuse(given, OF_HTTP, 'these options are for a network server, which --mcp stdio is not');
  if (hasCommand)
    throw usage(
      '--mcp stdio and the command would both use stdin and stdout',
      'With --mcp http the command finds the address in MCP_URL.',
    );
}

function refuse(given: readonly string[], options: readonly string[], why: string): void {
  const strays = options.filter(option => given.includes(option));
  if (strays.length > 0)
    throw usage(
      `${why}: ${strays.join(', ')}`,
      `Leave ${strays.length === 1 ? 'it' : 'them'} out, or --mcp.`,
    );
}
