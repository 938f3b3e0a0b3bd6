import { createLog } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Toolset } from '../../protocol/toolset.js';
import { troubleText, warningText, wrapMessages } from '../../render/outputs/trouble.js';
import { createTheme, dressLine } from '../../render/terminal/theme.js';
import { toolsetLines } from '../../render/toolset.js';
import { discover } from '../../runtime/discover.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/streams.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor, redactJson, safeJson } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { usage } from '../options.js';
import { colourOf } from '../output.js';
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

/** Ms and bytes: the defaults of `invoke`. */
const MCP_LIMITS = { timeout: 60_000, maxBody: 50 * 1024 * 1024 };

/** Runs `toolset`: lists each server, one after the other. What a tool repeats of our credentials is redacted (threats, row 25). */
export async function runToolset(
  url: string | undefined,
  options: ToolsetOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const list = new ToolsetList(options, terminal);
  const { mcp, demo, command } = options;
  const { target, rest } = readTarget(url === undefined ? [] : [url], mcp === undefined ? options : {});
  if (rest.length > 0) throw usage(`invalid URL: ${rest[0]}`, 'Write http://host:port.');
  if (target?.kind === 'endpoint') throw usage('an endpoint has no toolset');
  const other = demo ? '--demo' : command === undefined ? url : '--command';
  if (mcp !== undefined && other !== undefined)
    throw usage(
      `--mcp and ${other} exclude each other`,
      'Give one server: a URL, --demo, --command or --mcp.',
    );
  return stoppable(async (onStop, signal) => {
    try {
      if (mcp !== undefined) return await list.showMcp(mcp, onStop);
      return await (target ? list.show(target, onStop, signal) : list.showConfigured(onStop, signal));
    } catch (error) {
      throw list.clean(error);
    }
  });
}

class ToolsetList {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #redactor: Redactor;

  constructor(
    private readonly options: ToolsetOptions,
    private readonly terminal: Terminal,
  ) {
    this.#headers = readHeaders(options, terminal.env);
    this.#redactor = createRedactor(secretsOf(this.#headers));
  }

  /** An error without secrets. */
  clean(error: unknown): unknown {
    const redact = (text: string) => this.#redactor.text(text);
    return error instanceof ProtocolCliError ? error.mapText(redact) : error;
  }

  async show(target: ConfiguredTarget, onStop: OnStop, signal: AbortSignal): Promise<ExitStatus> {
    const client = createNodeClient();
    onStop(() => client.close());
    const url = await reach(target, { onStop, signal, onWarning: message => this.#warn({ message }) });
    const credentials = readCredentials(this.options, url, this.terminal.env);
    const { toolset, notes } = await discover({ client, log: createLog(systemClock.now), credentials }, url);
    for (const message of notes) this.#warn({ id: 'TOOL-DISCOVER', message });
    return this.#print(toolset);
  }

  /** A configured server that cannot be used does not prevent the others from being listed. */
  async showConfigured(onStop: OnStop, signal: AbortSignal): Promise<ExitStatus> {
    const { terminal, options } = this;
    const config = await readRapConfig(terminal);
    for (const warning of config.warnings) this.#warn(warning);
    if (config.targets.length === 0) this.#tell(`${visibleLine(noServersText(config))}\n`);
    if (!options.yes) await confirmCommands(config.targets, terminal, signal);
    let status: ExitStatus = 0;
    for (const each of config.targets) {
      try {
        await this.show(each, onStop, signal);
      } catch (error) {
        if (!(error instanceof ProtocolCliError) || signal.aborted) throw error;
        this.#tell(troubleText(error));
        status ||= statusOfFailure(error.code);
      }
    }
    return status;
  }

  async showMcp(given: string, onStop: OnStop): Promise<ExitStatus> {
    const [{ openServer, readMcpTarget }, { refuseHeaders }] = await Promise.all([
      import('../invoke/mcp.js'),
      import('../invoke/idle-options.js'),
    ]);
    const { header, bearer } = this.options;
    const peer = readMcpTarget(given);
    refuseHeaders(peer, [...(header ? ['--header'] : []), ...(bearer ? ['--bearer'] : [])]);
    const server = await openServer(
      { ...peer, headers: this.#headers },
      { ...MCP_LIMITS, log: createLog(systemClock.now), onStop, onWait: text => this.#tell(text) },
    );
    for (const message of server.notes()) this.#warn({ message });
    const { name, endpoint, tools } = server;
    return this.#print({ name, endpoint, needsMigration: false, tools: [...tools] });
  }

  #warn(warning: Parameters<typeof warningText>[0]): void {
    this.#tell(warningText(warning));
  }

  #tell(text: string): void {
    const { stderr } = this.terminal;
    stderr.write(wrapMessages(this.#redactor.text(text), stderr));
  }

  async #print(toolset: Toolset): Promise<ExitStatus> {
    const { stdout } = this.terminal;
    const json = redactJson(safeJson(toolset, 2), this.#redactor);
    if (this.options.output === 'json') await writeOut(stdout, `${json}\n`);
    else {
      const theme = createTheme(colourOf(stdout, this.options, this.terminal));
      const lines = toolsetLines(JSON.parse(redactJson(JSON.stringify(toolset), this.#redactor)));
      await writeOut(stdout, lines.map(line => `${dressLine(line, theme)}\n`).join(''));
    }
    return 0;
  }
}
