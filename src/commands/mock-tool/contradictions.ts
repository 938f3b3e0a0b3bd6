import { usageError } from '../options.js';
import type { MockToolFlags } from './flags.js';

/** Options that can be combined with `--export`, which writes a file and serves nothing. */
const OF_EXPORTS = ['--export', '--speed', '--no-color', '--quiet'];

/** Options about callbacks, which MCP does not have. */
const OF_CALLBACKS = ['--allow-callback', '--retries', '--max-pending', '--allow-repeats'];

const OF_HTTP = ['--host', '--port', '--allow-host', '--allow-origin'];

/** @throws ProtocolCliError `usage` for options that exclude each other. */
export function refuseContradictions(
  files: readonly string[],
  flags: MockToolFlags,
  hasCommand: boolean,
): void {
  const { export: target, watch, demo, keep, handlers, mcp, given = [] } = flags;
  const among = (options: readonly string[]) => options.filter(option => given.includes(option)).join(', ');
  const isExport = target !== undefined;
  const ofServers = given.filter(option => !OF_EXPORTS.includes(option)).join(', ');
  const [ofCallbacks, ofHttp] = [among(OF_CALLBACKS), among(OF_HTTP)];
  const exportExample = 'For example: protocol-cli mock-tool run.ndjson --export fixtures.yaml';
  const isStdio = mcp === 'stdio';
  const rules: readonly (readonly [isBroken: boolean, message: string, hint?: string])[] = [
    [isExport && hasCommand, '--export starts no server for a command', 'Export first, then serve the file.'],
    [
      isExport && ofServers !== '',
      `--export starts no server; these options need one: ${ofServers}`,
      'Leave them out.',
    ],
    [isExport && files.length === 0, '--export needs a transcript', exportExample],
    [watch === true && files.length === 0, '--watch needs fixture files to watch'],
    [
      demo === true && (files.length > 0 || handlers !== undefined),
      '--demo cannot be combined with fixtures or --handlers',
      'Leave out --demo or the others.',
    ],
    [keep === 0, '--keep must be at least 1'],
    [
      mcp === undefined && given.includes('--allow-origin'),
      '--allow-origin is for --mcp http',
      'Web pages cannot call a RAP tool.',
    ],
    [
      mcp !== undefined && ofCallbacks !== '',
      `these options are for callbacks, which MCP does not have: ${ofCallbacks}`,
      'Leave them out, or --mcp.',
    ],
    [
      isStdio && ofHttp !== '',
      `these options are for a network server, which --mcp stdio is not: ${ofHttp}`,
      'Leave them out, or --mcp.',
    ],
    [
      isStdio && hasCommand,
      '--mcp stdio and the command would both use stdin and stdout',
      'With --mcp http the command finds the address in MCP_URL.',
    ],
  ];
  const [, message, hint] = rules.find(([isBroken]) => isBroken) ?? [];
  if (message !== undefined) throw usageError(message, hint);
}
