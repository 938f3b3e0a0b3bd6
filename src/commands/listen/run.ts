import { History } from '../../events/history.js';
import { streamTranscript } from '../../events/transcript-writer.js';
import { afterAnswer } from '../../http/server.js';
import { type SignatureKey, WebhookJudge } from '../../protocol/webhook-signature.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { misdirected } from '../../render/warnings.js';
import { type CallIds, OpenListener } from '../../runtime/callback-server.js';
import { type BoundedOutput, isClosed, outputOf } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/text.js';
import { type ServerFlags, usageError } from '../options.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { isCounted, receivedIn } from './received.js';
import { readSignatures } from './webhooks.js';
import { Writer, type WriterFlags } from './writer.js';

interface ListenFlags extends ServerFlags, WriterFlags {
  readonly callbackUrl?: string;
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  /** Schemes and secrets of webhooks. */
  readonly signature?: readonly string[];
  /** Number of results after which it stops; undefined: never. */
  readonly count?: number;
  /** Milliseconds; 0 listens forever. */
  readonly timeout: number;
  readonly save?: string;
}

/** Runs `listen`; being stopped is its normal end. @throws ProtocolCliError `usage`, `port-in-use`, `unwritable-file` */
export async function runListen(flags: ListenFlags, terminal: Terminal): Promise<number> {
  const expected = [...(flags.expect ?? []), ...expectedPair(flags)];
  checkCount(flags, expected.length);
  const keys = readSignatures(flags.signature ?? [], terminal.env);
  if (keys.length > 0 && expected.length > 0)
    throw usageError('--signature excludes --expect, --group-id and --id', 'A webhook names no call.');
  const secrets = keys.map(({ secret }) => secret);
  return runServer({ terminal, secrets }, async (run, onClose) => {
    const history = new History();
    run.log.subscribe(event => history.apply(event));
    const { host, port, callbackUrl: publicUrl, allowHost: allowedHosts = [], maxBody, output, save } = flags;
    const keepBodies = output === 'ndjson' || save !== undefined;
    const address = { host, port, publicUrl, allowedHosts, maxBody };
    const listener = await (keys.length === 0
      ? OpenListener.start(run.log, history, { ...address, keepBodies })
      : OpenListener.start(
          run.log,
          history,
          { ...address, accepts: 'anything' },
          { judge: new WebhookJudge(keys), clock: run.clock },
        ));
    run.redactor.add(listener.token);
    const listening = new Listening(flags, keys, listener, run, history);
    onClose(() => listening.close());
    await run.save(save);
    return { quit: listening.start(expected), verify: async () => listening.report() };
  });
}

/** `--group-id` and `--id`: like `--expect`, for ids that contain a slash. */
function expectedPair({ groupId, id }: ListenFlags): CallIds[] {
  if (groupId === undefined && id === undefined) return [];
  if (groupId && id) return [{ groupId, id }];
  throw usageError(
    '--group-id and --id need each other and cannot be empty',
    'Both identify a call. Without them, all callbacks are shown.',
  );
}

function checkCount({ count }: ListenFlags, expected: number): void {
  if (count === 0)
    throw usageError('--count must be at least 1', 'Without --count, listen runs until it is stopped.');
  if (count !== undefined && expected > 0 && count > expected)
    throw usageError(
      `--count ${count}: only ${expected} results are expected`,
      'Each expected call has one result.',
    );
}

/** How listening ended; the transcript records the reason. */
type Ending =
  | { readonly reason: 'done' | 'failed' }
  /** Something expected is missing. */
  | { readonly reason: Trouble['code']; readonly trouble: Trouble }
  /** The output could not be written. */
  | { readonly reason: 'unwritable-file' | 'failed'; readonly error: unknown };

/** Prints callbacks until enough results arrived, the time is over, or the reader of the output is gone. */
class Listening {
  #ending: Ending = { reason: 'failed' };
  readonly #output: BoundedOutput;
  #transcript: ReturnType<typeof streamTranscript> | null = null;
  readonly #stops: (() => void)[] = [];

  constructor(
    private readonly flags: ListenFlags,
    private readonly keys: readonly SignatureKey[],
    private readonly listener: OpenListener,
    private readonly run: Run,
    private readonly history: History,
  ) {
    this.#output = outputOf(run.terminal.stdout);
  }

  /** Resolves when listening ends; rejects if the output cannot be written, for example because the disk is full. */
  start(expected: readonly CallIds[]): Promise<void> {
    const { flags, listener, history, run } = this;
    this.#printReady();
    const over = new Promise<void>((resolve, reject) => {
      this.#watchOutput(resolve, reject);
      this.#stops.push(this.#subscribeWriter(resolve));
      const onTimeout = () => {
        this.#end(this.#endingOnTimeout());
        resolve();
      };
      if (flags.timeout > 0) this.#stops.push(run.clock.after(flags.timeout, onTimeout));
    });
    history.keepRecent(listener.expected);
    for (const ids of expected) listener.expect(ids); // subscribed last: every other subscriber must get the event
    this.#end({ reason: 'done' });
    return over;
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.listener.server.close();
    await new Promise<void>(afterAnswer);
    const { reason } = this.#ending;
    if (!('error' in this.#ending)) this.#transcript?.end(reason);
    await this.run.endTranscript(reason); // first, because a reader may be slow
    await this.#output.written().catch(() => {}); // its error is thrown below
    if ('error' in this.#ending) throw this.#ending.error;
  }

  /** The first error counts. */
  #end(ending: Ending): void {
    if (!('error' in this.#ending)) this.#ending = ending;
  }

  /** Prints what is missing. Returns the exit status. */
  report(): ExitStatus {
    const { untracked } = this.history;
    const lost = [...untracked.values()].filter(({ refusal }) => refusal === 'wrong-address');
    if (!this.flags.quiet)
      for (const warning of misdirected(lost, untracked.misdirected)) this.run.warn(warning);
    return 'trouble' in this.#ending ? this.run.fail(this.#ending.trouble) : 0;
  }

  #printReady(): void {
    const { flags, run } = this;
    const { stdout, stderr } = run.terminal;
    const { callbackUrl: callback_url, server } = this.listener;
    const { port, url } = server;
    const whom = this.keys.length > 0 ? 'send webhooks to' : 'give tools this callback_url';
    const text = `listening at ${url}, ${whom}:\n${callback_url}`;
    const stream = flags.output === 'plain' ? stdout : stderr;
    printReady({ port, url, callback_url }, text, run.terminal, { stream });
    if (!flags.quiet) for (const message of networkWarnings(flags)) run.warn({ message });
  }

  /** @param onGone called if the reader is gone @param onFailure called if the output cannot be written */
  #watchOutput(onGone: () => void, onFailure: (error: unknown) => void): void {
    const { stdout } = this.run.terminal;
    const fail = (error: unknown) => {
      const reason = error instanceof ProtocolCliError ? 'unwritable-file' : 'failed';
      this.#end({ reason, error });
      onFailure(error);
    };
    this.#output.onError(fail);
    stdout.on('error', error => {
      if (isClosed(stdout)) return onGone();
      const message = `cannot write the output: ${error.message}`;
      fail(new ProtocolCliError('unwritable-file', message, { cause: error }));
    });
  }

  /**
   * Prints in the chosen format; warnings and URLs that the user must visit go to stderr.
   * @param onEnough called at the last result of `--count`
   */
  #subscribeWriter(onEnough: () => void): () => void {
    const { flags, run, history, listener } = this;
    const { redactor, about, log } = run;
    if (flags.output === 'ndjson') {
      const transcript = streamTranscript(this.#output, redactor, about);
      log.subscribe(event => afterAnswer(() => transcript.event(event)));
      this.#transcript = transcript;
    }
    const writer = new Writer(this.#output, flags, this.keys, run, listener.callbackUrl);
    let left = flags.count ?? Number.POSITIVE_INFINITY;
    return log.subscribe(event => {
      const received = receivedIn(event, history, listener);
      if (!received) return;
      afterAnswer(() => writer.write(received));
      if (isCounted(received) && --left === 0) onEnough();
    });
  }

  /** Logs the expected results that are missing, which are events (RT-TIMEOUT). */
  #endingOnTimeout(): Ending {
    const { flags, listener, history, run } = this;
    const { timeout: afterMs, count } = flags;
    const pending = [...listener.expected].flatMap(key => {
      const exchange = history.exchanges.get(key);
      return exchange && !exchange.settled ? [exchange] : [];
    });
    run.log.emit({ kind: 'expired', what: 'timeout', afterMs, calls: pending.map(({ key }) => key) });
    if (pending.length === 0 && count === undefined) return { reason: 'done' };
    const faults = pending.map(({ invocation }) => `group_id ${invocation.group_id}, id ${invocation.id}`);
    const fewer = `with fewer than ${count} ${this.keys.length > 0 ? 'genuine webhooks' : 'results'}`;
    const missing = faults.length > 0 ? 'without the expected results' : fewer;
    const trouble: Trouble = {
      code: 'timeout',
      message: `timed out after ${formatDuration(afterMs)} ${missing}`,
      hint: `Check that tools use the callback_url of ${listener.server.url}; --timeout allows more time.`,
      faults,
    };
    return { reason: trouble.code, trouble };
  }
}
