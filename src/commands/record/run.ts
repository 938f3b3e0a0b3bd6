import { startRecorder } from '../../record/recorder.js';
import { createRunnableClock } from '../../system/clock.js';
import { ignoreClosedPipes } from '../../system/streams.js';
import { readUrl } from '../../util/url.js';
import { usageError } from '../options.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { requireUrl } from '../target.js';
import type { Terminal } from '../terminal.js';
import { printMessages, type RecordFlags, requireOutput, startRecording, summaryText } from './recording.js';

/** @throws ProtocolCliError `usage`. */
function recorderOptions(words: readonly string[], flags: RecordFlags) {
  const { host, port, allowHost = [], callbackUrl = null, allowCallback = [] } = flags;
  const [url, another] = words;
  if (url === undefined || another !== undefined)
    throw usageError(
      url === undefined
        ? 'no URL of a tool server'
        : 'more than one argument: give the URL of one tool server',
      'An MCP server is recorded with --mcp <url>, or with --mcp stdio -- <command>.',
    );
  requireOutput(flags);
  return {
    url: toolUrl(url),
    host,
    port,
    maxBody: flags.maxBody,
    drainMs: flags.drain,
    allowHosts: allowHost,
    allowCallbacks: allowCallback,
    callbackBase: callbackUrl,
  };
}

function toolUrl(word: string): string {
  if (readUrl(word)?.username || readUrl(word)?.password)
    throw usageError(
      'the URL of the tool contains a user name or password',
      'Remove them: the recorder forwards the headers of the runtime to the tool.',
    );
  return requireUrl(word);
}

/**
 * Runs `record` until it is stopped, which is its normal end.
 * @param words the arguments; those after `--` are the command of an MCP server
 * @throws ProtocolCliError `usage`; `unwritable-file` if the file exists, and at the end if something could not be written.
 */
export async function runRecord(
  words: readonly string[],
  flags: RecordFlags,
  terminal: Terminal,
): Promise<number> {
  if (flags.mcp !== undefined)
    return (await import('./mcp.js')).runRecordMcp(flags.mcp, words, flags, terminal);
  const options = recorderOptions(words, flags);
  const { save: path } = flags;
  const clock = createRunnableClock();
  return runServer({ terminal, clock, observer: 'recorder' }, async (run, onClose) => {
    const { log } = run;
    const stopMeasuring = clock.after(Number.POSITIVE_INFINITY, () => {}); // the clock measures only while something waits
    onClose(async () => stopMeasuring());
    let summary: (() => string) | null = null;
    const redactor = await startRecording(run, flags, { summary: () => summary?.() ?? null });
    const recorder = await startRecorder(log, options);
    let isOver = false;
    onClose(async () => {
      isOver = true;
      await recorder.close();
    });
    const { port, url: own } = recorder;
    summary = () => {
      const ends = recorder.callEnds();
      if (ends.size === 0) return `0 calls: no invocation was sent to ${own}`;
      return summaryText(ends, 'check', path ?? '', terminal);
    };
    const { stdout } = terminal;
    printReady({ port, url: own }, `recording ${options.url}: point the runtime at ${own}`, terminal);
    if (flags.output === 'ndjson') ignoreClosedPipes(stdout);
    const output = printMessages(run, flags, redactor, terminal);
    onClose(() => output.close());
    output.warn(networkWarnings(flags));
    // The tool may start later; the recorder then finds it with the first request.
    void recorder.findTool().then(isFound => {
      if (!isFound && !isOver) output.warn([`no toolset at ${options.url} yet`]);
    });
    // If stdout is the only recording, recording ends when the reader of stdout is gone.
    const readerGone = new Promise(resolve => stdout.once('error', resolve));
    return { quit: path === undefined ? readerGone : new Promise(() => {}) };
  });
}
