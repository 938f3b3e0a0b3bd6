import { ProtocolCliError } from '../../errors.js';
import type { Rate } from '../../tool/answers/rate-limit.js';
import type { MockToolOptions } from '../../tool/options.js';
import { PROGRAM } from '../program.js';
import { canDraw, type Terminal } from '../terminal.js';
import { checkExportFlags } from './export-flags.js';
import { checkMcpFlags, type McpTransport } from './mcp/flags.js';
import { checkReports, type ReportRequest } from './report-option.js';

/** The flags as commander gives them. */
export interface MockToolFlags {
  readonly mcp?: McpTransport;
  /** Which of the options were written out, and not left at their defaults. */
  readonly given?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  /** Of transcripts. */
  readonly speed?: number;
  /** Where transcripts are written to as fixtures; - is stdout. */
  readonly export?: string;
  readonly demo?: true;
  readonly watch?: true;
  readonly allowRepeats?: true;
  readonly rateLimit?: Rate;
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
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
  readonly report?: readonly ReportRequest[];
  readonly output?: MockToolOutput;
  readonly quiet?: true;
  readonly color: boolean;
}

export type MockToolOutput = 'ui' | 'plain' | 'ndjson';

export interface MockToolPlan {
  /** Fixture files and folders; none where the demo is meant. */
  readonly files: readonly string[];
  /** What is run against the mock; null where it serves until it is stopped. */
  readonly command: readonly string[] | null;
  readonly output: MockToolOutput;
  /** Null where it speaks RAP. */
  readonly mcp: McpTransport | null;
  readonly isVerified: boolean;
  readonly reports: readonly ReportRequest[];
  readonly flags: MockToolFlags;
  readonly tool: Omit<MockToolOptions, 'fixtures' | 'handlers' | 'middleware'>;
}

/** @throws ProtocolCliError `usage`. */
export function readPlan(words: readonly string[], flags: MockToolFlags, terminal: Terminal): MockToolPlan {
  const command = terminal.afterDashes;
  const files = command ? words.slice(0, words.length - command.length) : words;
  if (command?.length === 0)
    throw new ProtocolCliError('usage', 'there is no command after --', {
      hint: 'For example: protocol-cli mock-tool fixtures.yaml -- npm test',
    });
  checkExportFlags(files, flags, command !== null);
  checkFlags(files, flags);
  checkMcpFlags(flags, command !== null);
  const output = outputOf(flags, terminal, command !== null);
  checkReports(flags.report ?? [], command !== null || output === 'ndjson' || flags.mcp === 'stdio');
  return {
    files,
    command,
    output,
    mcp: flags.mcp ?? null,
    isVerified: flags.verify === true || command !== null,
    reports: flags.report ?? [],
    flags,
    tool: toolOptions(flags),
  };
}

/** What makes no sense together. */
function checkFlags(
  files: readonly string[],
  { watch, demo, fsync, journal, keep, handlers }: MockToolFlags,
) {
  if (watch && files.length === 0) throw usage('--watch needs fixture files to watch');
  if (demo && (files.length > 0 || handlers !== undefined))
    throw usage('--demo serves the bundled demo, and nothing beside it', 'Leave out --demo, or the rest.');
  if (fsync && journal === undefined)
    throw usage('--fsync is about a journal, and there is none', 'Add --journal <file>.');
  if (keep === 0) throw usage('--keep 0 would remember nothing', 'The least is --keep 1.');
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
}

function outputOf({ output, mcp }: MockToolFlags, terminal: Terminal, hasCommand: boolean): MockToolOutput {
  const drawable = !hasCommand && mcp === undefined && canDraw(terminal);
  if (output === 'ui' && !drawable)
    throw new ProtocolCliError('usage', '-o ui needs a terminal of at least 40×8 for itself, outside CI', {
      hint: '-o plain tells the same in lines.',
    });
  if (output === 'ndjson' && hasCommand)
    throw new ProtocolCliError('usage', '-o ndjson and a command both want stdout', {
      hint: 'Ask GET /__mock__/journal with Accept: application/x-ndjson instead.',
    });
  return output ?? (drawable ? 'ui' : 'plain');
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
