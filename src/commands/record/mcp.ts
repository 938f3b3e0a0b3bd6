import { startMcpProxy } from '../../record/mcp/http.js';
import { McpObserver } from '../../record/mcp/observer.js';
import { startStdioRelay } from '../../record/mcp/stdio.js';
import { reserveStream } from '../../system/reserve-stream.js';
import { ignoreClosedPipes, outputOf } from '../../system/streams.js';
import type { LiveOutput } from '../live-output.js';
import { usageError } from '../options.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { readMcpTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import { printMessages, type RecordFlags, requireOutput, startRecording, summaryText } from './recording.js';

const STDIO = 'stdio';

const STDIO_EXAMPLE = 'For example: protocol-cli record --mcp stdio --save run.ndjson -- node server.mjs';

const HTTP_EXAMPLE = 'For example: protocol-cli record --mcp http://127.0.0.1:3000/mcp --save run.ndjson';

/** Options about callbacks, which MCP does not have. */
const OF_CALLBACKS = ['--callback-url', '--allow-callback'];

const OF_HTTP = ['--host', '--port', '--allow-host', '--drain'];

/**
 * Records between an MCP client and a server: over stdio until the server has ended, over HTTP until it is stopped.
 * @param mcp `stdio`, or the URL of the server
 * @param words the command after `--`
 * @returns over stdio the exit status of the server
 * @throws ProtocolCliError as `runRecord`; `usage` if the server could not be started
 */
export async function runRecordMcp(
  mcp: string,
  words: readonly string[],
  flags: RecordFlags,
  terminal: Terminal,
): Promise<number> {
  refuseOptions(mcp, flags);
  requireOutput(flags);
  const command = terminal.afterDashes ?? [];
  if (mcp !== STDIO) return recordHttp(serverUrl(mcp, words), flags, terminal);
  if (command.length > 0 && words.length === command.length) return recordStdio(command, flags, terminal);
  throw usageError(
    '--mcp stdio needs the command of a server after --, and nothing before it',
    STDIO_EXAMPLE,
  );
}

/** @throws ProtocolCliError `usage` */
function refuseOptions(mcp: string, { given = [], output }: RecordFlags): void {
  const among = (options: readonly string[]) => options.filter(option => given.includes(option)).join(', ');
  const [ofCallbacks, ofHttp] = [among(OF_CALLBACKS), among(OF_HTTP)];
  if (ofCallbacks !== '')
    throw usageError(
      `these options are for callbacks, which MCP does not have: ${ofCallbacks}`,
      'Leave them out.',
    );
  if (mcp === STDIO && ofHttp !== '')
    throw usageError(
      `these options are for a network server, which --mcp stdio is not: ${ofHttp}`,
      'Leave them out.',
    );
  if (mcp === STDIO && output === 'ndjson')
    throw usageError('-o ndjson and --mcp stdio would both write to stdout', 'Use --save <file>.');
}

/** @throws ProtocolCliError `usage` */
function serverUrl(mcp: string, words: readonly string[]): string {
  const { kind, name } = readMcpTarget(mcp, {});
  if (kind === 'stdio')
    throw usageError('--mcp needs the URL of a server, or stdio with a command after --', STDIO_EXAMPLE);
  if (words.length > 0) throw usageError('--mcp <url> takes no other arguments', HTTP_EXAMPLE);
  return name;
}

interface Recording {
  readonly observer: McpObserver;
  /** Prints the messages from now on. */
  readonly listen: (terminal: Terminal) => LiveOutput;
}

/** @param endpoint of the server, for events */
async function openRecording(run: Run, endpoint: string, flags: RecordFlags): Promise<Recording> {
  const observer = new McpObserver(run.log, endpoint);
  const redactor = await startRecording(run, flags, {
    summary: path => summaryText(observer.ends.counts, 'render', path, run.terminal),
    isNumbered: flags.mcp === STDIO,
  });
  return { observer, listen: terminal => printMessages(run, flags, redactor, terminal) };
}

/** Stdin and stdout are the client's, so all messages go to stderr. */
async function recordStdio(
  command: readonly string[],
  flags: RecordFlags,
  terminal: Terminal,
): Promise<number> {
  let status = 0;
  await runServer({ terminal, observer: 'recorder' }, async (run, onClose) => {
    const { stdin, stdout, stderr } = terminal;
    const [program = ''] = command;
    const endpoint = `stdio:${program.replace(/^.*[/\\]/, '')}`;
    const { observer, listen } = await openRecording(run, endpoint, flags);
    const output = listen({ ...terminal, stdout: stderr });
    const client = reserveStream(stdout, stderr);
    const clientGone = new Promise(resolve => client.stream.once('error', resolve));
    const { ended, stop } = startStdioRelay({
      command,
      stdin,
      stdout: client.stream,
      onStderr: outputOf(stderr).take,
      observer,
      maxBytes: flags.maxBody,
    });
    const over = ended.then(its => {
      status = its;
    });
    onClose(stop);
    onClose(() => over.finally(client.release));
    onClose(() => output.close());
    return { quit: Promise.race([over, clientGone]) };
  });
  return status;
}

async function recordHttp(url: string, flags: RecordFlags, terminal: Terminal): Promise<number> {
  const { host, port, allowHost = [], maxBody, drain } = flags;
  const options = { url, host, port, allowHosts: allowHost, maxBody, drainMs: drain };
  const { stdout } = terminal;
  return runServer({ terminal, observer: 'recorder' }, async (run, onClose) => {
    const { observer, listen } = await openRecording(run, url, flags);
    const proxy = await startMcpProxy(observer, options);
    onClose(() => proxy.close());
    const { url: own } = proxy;
    printReady({ port: proxy.port, url: own }, `recording ${url}: point the client at ${own}`, terminal);
    if (flags.output === 'ndjson') ignoreClosedPipes(stdout);
    const output = listen(terminal);
    onClose(() => output.close());
    output.warn(networkWarnings(flags));
    const readerGone = new Promise(resolve => stdout.once('error', resolve));
    return { quit: flags.save === undefined ? readerGone : new Promise(() => {}) };
  });
}
