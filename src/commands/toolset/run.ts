import { colourLevel } from '../../dress/colour-level.js';
import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { ProtocolCliError } from '../../errors.js';
import { createLog } from '../../exchange/log.js';
import { warningText } from '../../reporters/trouble.js';
import { discover } from '../../runtime/discover.js';
import { toolsetLines } from '../../story/toolset-lines.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import { createNodeClient } from '../../transport/node-client.js';
import type { ExitStatus } from '../exit-status.js';
import { type HeaderOptions, readCredentials } from '../headers.js';
import { reach } from '../reach.js';
import { configuredTargets, readTarget, type ServerTarget, type TargetOptions } from '../target.js';
import type { Terminal } from '../terminal.js';

export interface ToolsetOptions extends TargetOptions, HeaderOptions {
  readonly output: 'text' | 'json';
  readonly color: boolean;
}

/** `toolset`: every tool server meant, one after the other. */
export async function runToolset(
  url: string | undefined,
  options: ToolsetOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { target, rest } = readTarget(url === undefined ? [] : [url], options);
  if (rest.length > 0)
    throw new ProtocolCliError('usage', `"${rest[0]}" is no URL`, {
      hint: 'A tool server is given as http://host:port.',
    });
  if (target?.kind === 'endpoint') throw new ProtocolCliError('usage', 'an endpoint has no toolset');
  const targets = target ? [target] : await configuredTargets([terminal.cwd, terminal.home]);
  for (const each of targets) await list(each, options, terminal);
  return 0;
}

async function list(target: ServerTarget, options: ToolsetOptions, terminal: Terminal): Promise<void> {
  const client = createNodeClient();
  const reached = await reach(target);
  try {
    const wire = {
      client,
      log: createLog(systemClock.now),
      credentials: readCredentials(options, reached.url, terminal.env),
    };
    const { toolset, notes } = await discover(wire, reached.url);
    for (const message of notes) terminal.stderr.write(warningText({ id: 'TOOL-DISCOVER', message }));
    const text = options.output === 'json' ? safeJson(toolset, 2) : listing(toolset, options, terminal);
    await writeOut(terminal.stdout, `${text}\n`);
  } finally {
    await Promise.all([client.close(), reached.stop()]);
  }
}

function listing(
  toolset: Parameters<typeof toolsetLines>[0],
  { color }: ToolsetOptions,
  { stdout, env }: Terminal,
): string {
  const theme = createTheme(colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color }));
  return toolsetLines(toolset)
    .map(line => dressLine(line, theme))
    .join('\n');
}
