import { randomUUID } from 'node:crypto';
import type { FixtureAnswer } from '../fixtures/answer-call.js';
import type { Reply, Step, StepKind } from '../fixtures/reply-schema.js';
import { fillTemplates, fillText } from '../fixtures/template.js';
import type { Invocation } from '../protocol/invocation.js';
import type { Clock } from '../system/clock.js';
import { patchOf } from '../util/patch-of.js';
import { isRecord } from '../util/values.js';
import type { Conversation, Fields } from './conversation.js';
import type { Middlewares } from './middleware.js';

/** The values of templates. A class, because an object with getters costs a tenth of all the work for a call. */
class CallValues {
  readonly operation;
  readonly arguments;
  readonly id;
  readonly call_id;
  readonly group_id;
  readonly user_id;
  readonly thread_ancestors;
  readonly key;
  readonly count;
  /** The values of the latest form. */
  form: Fields = {};

  constructor(
    invocation: Invocation,
    { key, count }: FixtureAnswer,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {
    this.operation = invocation.operation;
    this.arguments = invocation.arguments;
    this.id = invocation.id;
    this.call_id = invocation.call_id;
    this.group_id = invocation.group_id;
    this.user_id = invocation.user_id;
    this.thread_ancestors = invocation.thread_ancestors;
    this.key = key;
    this.count = count;
  }

  get now(): string {
    return this.clock.wall().toISOString();
  }

  get uuid(): string {
    return randomUUID();
  }
}

type StepOf<K extends StepKind> = Extract<Step, { kind: K }>;

type StepPlayer<K extends StepKind> = (player: ReplyPlayer, step: StepOf<K>) => Promise<unknown>;

const QUESTIONS: ReadonlySet<StepKind> = new Set(['choice', 'oauth', 'form']);

/** Fields of an outcome whose text is redacted like a payload (TOOL-SECRET). */
const REDACTED_WORDS: ReadonlySet<string> = new Set(['message', 'reason']);

/** Plays the steps of a reply: of a fixture with its templates, delays and states, or one of a handler. */
export class ReplyPlayer {
  readonly #values: CallValues | undefined;
  #delays = 0;

  /** @param invocation after request middleware */
  constructor(
    private readonly conversation: Conversation,
    private readonly middlewares: Middlewares,
    private readonly invocation: Invocation,
    private readonly found?: FixtureAnswer,
    clock?: Pick<Clock, 'wall'>,
  ) {
    if (found && clock) this.#values = new CallValues(invocation, found, clock);
  }

  /** Plays the reply of the fixture. */
  playFixture(): Promise<void> {
    const { missing = [], reply = [] } = this.found ?? {};
    this.#filled({ value: null, missing });
    return this.#play(reply);
  }

  /** Plays the steps in order; a canceled call ends in a result that says so (TOOL-ALWAYS). */
  async #play(reply: Reply): Promise<void> {
    for (const [index, step] of reply.entries())
      if (!(await this.#playInTurn(step, reply[index + 1]))) return;
  }

  /** @throws TypeError for an unknown kind; a handler may return any kind. */
  playStep(step: Step): Promise<unknown> {
    if (!Object.hasOwn(ReplyPlayer.#players, step.kind))
      throw new TypeError(`unknown kind of reply: "${step.kind}"`);
    return (ReplyPlayer.#players[step.kind] as StepPlayer<StepKind>)(this, step);
  }

  /** Resolves to false if the call was canceled before. */
  async #playInTurn(step: Step, following: Step | undefined): Promise<boolean> {
    const { conversation } = this;
    const ms = this.#delayOf(step);
    if (ms > 0) await conversation.pause(ms);
    if (conversation.isCutShort) {
      await conversation.canceled();
      return false;
    }
    if (step.state !== undefined) this.found?.enterState(step.state);
    const isQuestion = QUESTIONS.has(step.kind); // a question takes the trigger, before the next step
    if (!isQuestion && following?.kind === 'event' && following.on === 'demand') conversation.expectTrigger();
    await this.playStep(step);
    return true;
  }

  static readonly #players: { readonly [K in StepKind]: StepPlayer<K> } = {
    payload: async (player, { payload }) => {
      const { conversation, middlewares, invocation } = player;
      const { value, changes } = await middlewares.response(player.#fill(payload), invocation);
      conversation.call.logChanges('middleware', changes);
      await conversation.payload(value);
    },
    result: async (player, { result, recorded }) => {
      const { conversation } = player;
      const fields = expandDiffs(player.#fill(result));
      const changes = player.middlewares.changesTo(fields, player.invocation);
      conversation.call.logChanges('verbatim', changes);
      const paths = changes.map(({ path }) => path).join(', ');
      if (paths !== '')
        conversation.call.warn(`a result was sent verbatim; middleware would have changed it at ${paths}`);
      await conversation.result(fields, recordedText(recorded));
    },
    error: (player, { error: { type: errorType, ...error } }) => {
      const words = { ...error, ...(errorType !== undefined && { errorType }) };
      return player.conversation.outcome({ type: 'error', ...player.#words(words) });
    },
    canceled: (player, { canceled }) =>
      player.conversation.outcome({ type: 'canceled', ...player.#words(canceled) }),
    timeout: (player, { timeout }) => player.conversation.outcome({ type: 'timeout', ...timeout }),
    denied: (player, { denied }) => player.conversation.outcome({ type: 'denied', ...player.#words(denied) }),
    silence: async ({ conversation }) => conversation.silence(),
    event: async (player, { event: { text, ...more }, on, recorded }) => {
      const { conversation } = player;
      if (on === 'demand' && !(await conversation.waitForTrigger())) return;
      await conversation.event({ text: player.#text(text), ...player.#fill(more) }, recordedText(recorded));
    },
    view: async (player, { view: { view_type, content }, recorded }) => {
      const view = { view_type: player.#text(view_type), content: player.#fill(content) };
      await player.conversation.view(expandDiffs(view), recordedText(recorded));
    },
    message: (player, { message, recorded }) =>
      player.conversation.message(player.#fill(message), recordedText(recorded)),
    choice: (player, step) => player.#choice(step),
    oauth: (player, step) => player.#consent(step),
    form: (player, step) => player.#form(step),
  };

  async #choice(step: StepOf<'choice'>): Promise<unknown> {
    const { conversation } = this;
    const { prompt: written, choices, default: preset, query } = step.choice;
    const prompt = this.#text(written);
    const { id } = conversation.call.caller.addressee;
    const question = { prompt, choices: choices.map(label => this.#text(label)), default: preset, id };
    const asking = { withinMs: step.within, recorded: recordedText(step.recorded), query };
    const picked = await conversation.choice(question, asking);
    if (picked === null) return this.#unanswered(`"${prompt}" was not answered`);
    const label = choices[picked] ?? '';
    const branch = Object.hasOwn(step.then, label) ? step.then[label] : undefined;
    if (branch) return this.#play(branch);
    const message = `the fixture has no reply for the choice "${label}"`;
    await conversation.outcome({ type: 'error', message });
  }

  async #consent(step: StepOf<'oauth'>): Promise<unknown> {
    const { scopes = [], auth_url } = step.oauth;
    const question = { operation: this.invocation.operation, scopes: scopes.map(scope => this.#text(scope)) };
    const consent = await this.conversation.consent(question, {
      withinMs: step.within,
      recorded: recordedText(step.recorded),
      authUrl: auth_url === undefined ? undefined : this.#text(auth_url),
    });
    if (consent === null) return this.#unanswered('authorization was not given');
    await this.#play(step[consent]);
  }

  async #form(step: StepOf<'form'>): Promise<unknown> {
    const { conversation } = this;
    const message = this.#text(step.form.message);
    const question = { ...step.form, message, requestedSchema: this.#fill(step.form.requestedSchema) };
    const answer = await conversation.form(question, { withinMs: step.within });
    if (answer === null) return this.#unanswered(`the form "${message}" was not answered`);
    const { action, content } = answer;
    if (this.#values) this.#values.form = content;
    const branch = step[action];
    if (branch) return this.#play(branch);
    const reason = action === 'decline' ? 'the form was declined' : 'the form was canceled';
    await conversation.outcome({ type: 'canceled', reason, by: 'user' });
  }

  /** Reports a missing answer; for a canceled call sends the cancellation instead. */
  #unanswered(what: string): Promise<unknown> {
    const { conversation } = this;
    if (conversation.call.isCanceled) return conversation.canceled();
    const message = conversation.call.isStopping
      ? `the tool is stopping and ${what}; call again later`
      : `${what} in time; ask the user and call again`;
    return conversation.outcome({ type: 'error', message });
  }

  /** In whole milliseconds; a random value for a range. */
  #delayOf({ delay }: Step): number {
    if (!this.found) return 0;
    if (typeof delay === 'number') return delay;
    return Math.round(delay.min + this.found.draw(`delay ${this.#delays++}`) * (delay.max - delay.min));
  }

  /** Fills the templates of a tree; a text that consists of one template becomes its value. */
  #fill<T>(tree: T): T {
    return this.#values ? (this.#filled(fillTemplates(tree, this.#values)) as T) : tree; // the filled tree has the same shape
  }

  /** Fills the templates of a text; the result is always a text. */
  #text(text: string): string {
    return this.#values ? this.#filled(fillText(text, this.#values)) : text;
  }

  #filled<T>({ value, missing }: { readonly value: T; readonly missing: readonly string[] }): T {
    if (missing.length > 0) this.conversation.call.warn(`template values not found: ${missing.join(', ')}`);
    return value;
  }

  /** Fills and redacts the texts of an outcome. */
  #words<T extends object>(words: T): T {
    const entries = Object.entries(words).map(([name, value]): [string, unknown] => {
      if (typeof value !== 'string') return [name, value];
      const text = this.#text(value);
      return [name, REDACTED_WORDS.has(name) ? this.#redacted(text) : text];
    });
    return Object.fromEntries(entries) as T; // texts stay texts
  }

  #redacted(text: string): string {
    const { value, changes } = this.middlewares.words(text, this.invocation);
    this.conversation.call.logChanges('middleware', changes);
    return value;
  }
}

/** Braces in a recorded text are literal, not templates. */
function recordedText(recorded: string | undefined): string | undefined {
  return recorded?.replaceAll('\\{{', '{{');
}

/**
 * Creates the patch of a diff that is written as `before` and `after`, in display segments or in the content of a view. A file that
 * begins or ends empty is new or deleted.
 */
function expandDiffs(message: Fields): Fields {
  const { display_as: segments, view_type: view, content } = message;
  if (view === 'diff' && isUnpatched(content)) return { ...message, content: patched(content) };
  const isDiff = (segment: unknown): segment is { readonly content: Fields } =>
    isRecord(segment) && segment['type'] === 'diff' && isUnpatched(segment['content']);
  if (!Array.isArray(segments) || !segments.some(isDiff)) return message;
  const expanded = segments.map((segment: unknown) =>
    isDiff(segment) ? { ...segment, content: patched(segment.content) } : segment,
  );
  return { ...message, display_as: expanded };
}

function isUnpatched(content: unknown): content is Fields {
  return isRecord(content) && (Object.hasOwn(content, 'before') || Object.hasOwn(content, 'after'));
}

function patched({ before, after, ...content }: Fields): Fields {
  const path = typeof content['path'] === 'string' ? content['path'] : 'file';
  return { ...content, patch: patchOf(path, asText(before), asText(after)) };
}

/** A template may insert values that are not text. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
