import { setMaxListeners } from 'node:events';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { LineTransport } from '../../mock/mcp/line-transport.js';
import { reserveStream } from '../../system/reserve-stream.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { visibleLine } from '../../util/visible.js';
import { runServer } from '../run-server.js';
import type { Terminal } from '../terminal.js';
import { failureOf } from './answer.js';
import type { CallSurroundings } from './calls.js';
import { progressOf } from './progress.js';
import { agentServer, outputSchemas } from './server.js';

interface McpServerFlags {
  readonly allowCommands?: boolean;
  /** Names of environment variables. */
  readonly allowEnv?: readonly string[];
}

const BY_HAND =
  'This is an MCP server, which a coding agent starts: protocol-cli help coding-agents. Ctrl-C stops it.\n';

/** Serves one client on stdin and stdout until it closes stdin, or a signal arrives. */
export async function runMcpServer(flags: McpServerFlags, terminal: Terminal): Promise<number> {
  const { stdin, stdout, stderr } = terminal;
  if (stdin.isTTY === true) stderr.write(BY_HAND);
  setMaxListeners(0, process); // each call listens to the signals
  const schemas = await outputSchemas();
  return runServer({ terminal }, async (run, onClose) => {
    const calls = new Calls(flags, terminal);
    const { stream, release } = reserveStream(stdout, stderr);
    const { value: maxLine } = LIMITS.messageBytes;
    const transport = new LineTransport({ stdin, stdout: stream }, maxLine, () => calls.stop());
    const onerror = ({ message }: Error) => run.warn({ message: visibleLine(message) });
    const serving = serveStdio(() => agentServer(calls.run, schemas, flags.allowCommands === true), {
      transport,
      onerror,
    });
    onClose(() => calls.stop());
    onClose(() => serving.close().finally(release));
    return { quit: transport.over };
  });
}

/** The calls of the client that run. */
class Calls {
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #surroundings: CallSurroundings;

  constructor({ allowCommands = false, allowEnv = [] }: McpServerFlags, terminal: Terminal) {
    const { afterDashes, cwd, home, announceUserCode, interrupt } = terminal;
    const env = Object.fromEntries(allowEnv.map(name => [name, terminal.env[name]])); // an agent must not send others
    const mayStart = allowCommands;
    this.#surroundings = { afterDashes, cwd, home, announceUserCode, interrupt, env, mayStart };
    setMaxListeners(0, this.#stop.signal);
  }

  /** Runs a call; its failure is an answer. */
  readonly run = async (
    { mcpReq }: ServerContext,
    work: (surroundings: CallSurroundings) => Promise<CallToolResult>,
  ): Promise<CallToolResult> => {
    const canceled = AbortSignal.any([mcpReq.signal, this.#stop.signal]);
    const onProgress = progressOf(mcpReq);
    const running = work({ ...this.#surroundings, canceled, ...(onProgress && { onProgress }) });
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      if (error instanceof ProtocolCliError) return failureOf(error);
      throw error;
    } finally {
      this.#running.delete(running);
    }
  };

  /** Cancels all calls; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running);
  }
}
