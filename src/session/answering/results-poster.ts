import { ProtocolCliError } from '../../errors.js';
import { bodiesOf, bodyOf, MOST_BYTES } from './bodies.js';
import { pause } from './pause.js';
import { interruptedSession, type Platform } from './platform.js';
import type { PlatformDesk } from './recorded-send.js';
import { refusedBy } from './refusal.js';
import { failurePauseMs, judgePost } from './retries.js';
import type { SessionWatch } from './session-watch.js';
import { type Settled, settleWithError, tellAnswered } from './settled.js';

/** How often in a row an answer may be lost, and how often a platform may ask to wait. */
const MOST = { losses: 5, waits: 10 };

/**
 * Brings answers to the platform, each once (platforms): what was lost on the way is posted again only where the session still waits
 * for it, and what one call's answer is refused for holds up no other.
 */
export class ResultsPoster {
  /** Keys of what is not done yet. */
  readonly #later = new Set<string>();

  constructor(
    private readonly desk: PlatformDesk,
    private readonly platform: Platform,
    private readonly watch: SessionWatch,
  ) {}

  /**
   * Gives the keys of those that are done: taken, or wanted by nobody any more. The others were refused while the session did not wait,
   * though it never said that they are not pending: they may be posted once it waits again.
   * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
   */
  async post(settled: readonly Settled[]): Promise<string[]> {
    const fitting = settled.map(each => (each.bytes.length > MOST_BYTES ? this.#tooLarge(each) : each));
    this.#later.clear();
    for (const body of bodiesOf(fitting)) await this.#deliver(body.settled);
    return settled.map(({ call }) => call.key).filter(key => !this.#later.has(key));
  }

  async #deliver(settled: readonly Settled[]): Promise<void> {
    const tries = { losses: 0, waits: 0 };
    let left = settled;
    for (let attempt = 1; left.length > 0; attempt++) {
      if (this.desk.signal.aborted) throw interruptedSession();
      left = await this.#postOnce(left, attempt, tries);
    }
  }

  /** @returns what is to be posted again. */
  async #postOnce(
    settled: readonly Settled[],
    attempt: number,
    tries: { losses: number; waits: number },
  ): Promise<readonly Settled[]> {
    const posted = await this.platform.post(bodyOf(settled), attempt);
    if (posted.kind === 'lost') return this.#afterLoss(settled, posted.error, ++tries.losses);
    const { status, headers, detail } = posted;
    const refusal = refusedBy(status, 'the posted results', detail);
    switch (judgePost(status)) {
      case 'taken':
      case 'finished':
        return [];
      case 'busy':
        if (++tries.waits > MOST.waits) throw refusal;
        await this.#pause(this.platform.busyPause(headers, refusal));
        return settled;
      case 'too-large':
        return this.#apart(settled, refusal);
      case 'invalid':
        return this.#afterRefusal(settled, refusal);
      case 'refused':
        throw refusal;
    }
  }

  async #afterLoss(
    settled: readonly Settled[],
    error: ProtocolCliError,
    losses: number,
  ): Promise<readonly Settled[]> {
    if (losses >= MOST.losses) throw error;
    await this.#pause(failurePauseMs(losses));
    return this.#stillPending(settled);
  }

  /** Refused since some were not pending any more, the others are as good as before. */
  async #afterRefusal(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const still = await this.#stillPending(settled);
    if (still.length < settled.length) {
      this.#tellUnwanted(settled.length - still.length);
      return still;
    }
    if (this.watch.isAwaiting) return this.#apart(settled, refusal);
    for (const { call } of still) this.#later.add(call.key);
    return [];
  }

  /** One by one, so that what is wrong with one of them is no reason to lose the others; a result alone becomes an error. */
  async #apart(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const [only, ...others] = settled;
    if (only && others.length === 0) return [this.#inItsPlace(only, refusal)];
    const refusals: ProtocolCliError[] = [];
    for (const each of settled)
      await this.#deliver([each]).catch(error => {
        if (!isRefusal(error)) throw error;
        refusals.push(error);
      });
    if (refusals[0]) throw refusals[0];
    return [];
  }

  /** @throws ProtocolCliError the refusal, where it is an error that was refused. */
  #inItsPlace({ call, kind }: Settled, refusal: ProtocolCliError): Settled {
    if (kind === 'error_event') throw refusal;
    return this.#replaced(call, `the result could not be posted: ${refusal.message}`);
  }

  #tooLarge({ call, kind, bytes }: Settled): Settled {
    const what = kind === 'error_event' ? 'error' : 'result';
    return this.#replaced(
      call,
      `the ${what} is too large: it takes ${bytes.length} bytes, and a body may have ${MOST_BYTES} (5 MiB)`,
    );
  }

  #replaced(call: Settled['call'], message: string): Settled {
    const { log, thread } = this.desk;
    log.emit({ kind: 'warned', thread, calls: [call.key], message: `${call.tool}: ${message}` });
    return tellAnswered(this.desk, settleWithError(call, message));
  }

  #pause(ms: number): Promise<void> {
    const { clock, signal } = this.desk;
    return pause(clock, ms, signal);
  }

  async #stillPending(settled: readonly Settled[]): Promise<readonly Settled[]> {
    await this.watch.look(0);
    const keys = new Set(this.watch.listed.map(({ key }) => key));
    return settled.filter(({ call }) => keys.has(call.key));
  }

  #tellUnwanted(count: number): void {
    const { log, thread } = this.desk;
    const what = count === 1 ? 'an answer that is' : `${count} answers that are`;
    log.emit({ kind: 'warned', thread, message: `the platform was sent ${what} not pending any more` });
  }
}

function isRefusal(error: unknown): error is ProtocolCliError {
  return error instanceof ProtocolCliError && error.code === 'platform-refused';
}
