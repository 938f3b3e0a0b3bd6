import { drawDelay, expandDiffs, type StepPath } from '../fixtures/fixture-set.js';
import type { Reply, Step, StepKind } from '../fixtures/reply-schema.js';
import { fillTemplates, fillText, type TemplateValues } from '../fixtures/template.js';
import type { Invocation } from '../protocol/invocation.js';
import type { Conversation } from './conversation.js';
import type { Middlewares } from './middleware.js';

/** Template values, draws and states of a fixture; handlers have none of them. */
interface FixtureContext {
  readonly values: TemplateValues;
  /** Returns a random number in [0, 1), from the seed. */
  readonly draws: (matter: string) => number;
  readonly enterState: (state: string) => void;
}

/** Position of a reply in the whole answer: it may be a branch of a question. */
interface Standing {
  /** The first step to play; earlier ones were played before a restart. */
  readonly from?: StepPath;
  /** Path of the reply. */
  readonly under?: StepPath;
  /** The step after the reply; undefined at the end of the answer. */
  readonly after?: StepPath | undefined;
}

/** Position of one step in the whole answer. */
interface Place {
  readonly here: StepPath;
  readonly next: StepPath | undefined;
}

type StepOf<K extends StepKind> = Extract<Step, { kind: K }>;

type StepPlayer<K extends StepKind> = (
  player: ReplyPlayer,
  step: StepOf<K>,
  place: Place,
) => Promise<unknown>;

/** Fields of an outcome whose text is redacted like a payload (TOOL-SECRET). */
const REDACTED_WORDS: ReadonlySet<string> = new Set(['message', 'reason']);

/** Plays the steps of a reply. */
export class ReplyPlayer {
  #delays = 0;

  /** @param invocation after request middleware */
  constructor(
    private readonly conversation: Conversation,
    private readonly middlewares: Middlewares,
    private readonly invocation: Invocation,
    private readonly fixture?: FixtureContext,
  ) {}

  /** Plays the steps in order; a canceled call ends in a result that says so (TOOL-ALWAYS). */
  async play(reply: Reply, { from = [], under = [], after }: Standing = {}): Promise<void> {
    const first = Number(from[0] ?? 0);
    for (let index = first; index < reply.length; index++) {
      const place = {
        here: [...under, index],
        next: index + 1 < reply.length ? [...under, index + 1] : after,
      };
      const isAnswered = index === first && from.length > 1; // the question was sent before a restart
      if (isAnswered) await this.#playAnswered(reply[index], place, from);
      else if (!(await this.#playInTurn(reply[index], reply[index + 1], place))) return;
    }
  }

  /** @throws TypeError for an unknown kind; a handler may return any kind. */
  playStep(step: Step, place: Place = { here: [0], next: undefined }): Promise<unknown> {
    if (!Object.hasOwn(ReplyPlayer.#players, step.kind))
      throw new TypeError(`unknown kind of reply: "${step.kind}"`);
    return (ReplyPlayer.#players[step.kind] as StepPlayer<StepKind>)(this, step, place);
  }

  async #playAnswered(step: Step | undefined, place: Place, [, answer, ...deeper]: StepPath): Promise<void> {
    const branch = step && branchOf(step, String(answer));
    if (branch) await this.#playBranch(branch, String(answer), place, deeper);
  }

  /** Returns false if the call was canceled before. */
  async #playInTurn(step: Step | undefined, following: Step | undefined, place: Place): Promise<boolean> {
    if (!step) return false;
    const { conversation } = this;
    const ms = this.#delayOf(step);
    if (ms > 0) await conversation.pause(ms);
    if (conversation.isCanceled && !conversation.outlivesCancel) {
      await conversation.canceled();
      return false;
    }
    if (step.state !== undefined) this.fixture?.enterState(step.state);
    const isQuestion = step.kind === 'choice' || step.kind === 'oauth'; // a question takes the trigger, before the next step
    if (!isQuestion && following?.kind === 'event' && following.on === 'demand') conversation.expectTrigger();
    conversation.continuesAt(isQuestion ? undefined : place.next);
    await this.playStep(step, place);
    return true;
  }

  #playBranch(branch: Reply, answer: string, { here, next }: Place, from: StepPath = []): Promise<void> {
    return this.play(branch, { from, under: [...here, answer], after: next });
  }

  static readonly #players: { readonly [K in StepKind]: StepPlayer<K> } = {
    payload: async (player, { payload }) => {
      const { conversation, middlewares, invocation } = player;
      const shaping = middlewares.response(player.#fill(payload), invocation);
      const { value, changes } = shaping instanceof Promise ? await shaping : shaping;
      conversation.logChanges('middleware', changes);
      return conversation.payload(value);
    },
    result: async (player, { result, layout }) => {
      const { conversation } = player;
      const fields = await expandDiffs(player.#fill(result));
      const changes = player.middlewares.wouldChange(fields, player.invocation);
      conversation.logChanges('verbatim', changes);
      const paths = changes.map(({ path }) => path).join(', ');
      if (paths !== '')
        conversation.warn(`a result was sent verbatim; middleware would have changed it at ${paths}`);
      await conversation.result(fields, layoutText(layout));
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
    event: async (player, { event: { text, ...more }, on, layout }) => {
      const { conversation } = player;
      if (on === 'demand' && !(await conversation.triggered())) return;
      await conversation.event({ text: player.#text(text), ...player.#fill(more) }, layoutText(layout));
    },
    view: async (player, { view: { view_type, content }, layout }) => {
      const view = { view_type: player.#text(view_type), content: player.#fill(content) };
      await player.conversation.view(await expandDiffs(view), layoutText(layout));
    },
    message: (player, { message }) => player.conversation.message(player.#fill(message)),
    choice: (player, step, place) => player.#choice(step, place),
    oauth: (player, step, place) => player.#consent(step, place),
  };

  async #choice(step: StepOf<'choice'>, place: Place): Promise<unknown> {
    const { conversation } = this;
    const { prompt: written, choices, default: preset, query } = step.choice;
    const prompt = this.#text(written);
    const { id } = conversation.caller.addressee;
    const question = { prompt, choices: choices.map(label => this.#text(label)), default: preset, id };
    const asking = { withinMs: step.within, layout: layoutText(step.layout), query };
    const picked = await conversation.choice(question, asking);
    if (picked === null) return this.#unanswered(`"${prompt}" was not answered`, place);
    const label = choices[picked] ?? '';
    const branch = branchOf(step, label);
    if (branch) return this.#playBranch(branch, label, place);
    conversation.continuesAt(place.next);
    const message = `the fixture has no reply for the choice "${label}"`;
    await conversation.outcome({ type: 'error', message });
  }

  async #consent(step: StepOf<'oauth'>, place: Place): Promise<unknown> {
    const { scopes = [], auth_url } = step.oauth;
    const question = { operation: this.invocation.operation, scopes: scopes.map(scope => this.#text(scope)) };
    const consent = await this.conversation.consent(question, {
      withinMs: step.within,
      layout: layoutText(step.layout),
      authUrl: auth_url === undefined ? undefined : this.#text(auth_url),
    });
    if (consent === null) return this.#unanswered('authorization was not given', place);
    await this.#playBranch(step[consent], consent, place);
  }

  /** Reports a missing answer; for a canceled call sends the cancellation instead. */
  #unanswered(what: string, { next }: Place): Promise<unknown> {
    const { conversation } = this;
    if (conversation.isCanceled) return conversation.canceled();
    conversation.continuesAt(next);
    const message = conversation.isStopping
      ? `the tool is stopping and ${what}; call again later`
      : `${what} in time; ask the user and call again`;
    return conversation.outcome({ type: 'error', message });
  }

  #delayOf({ delay }: Step): number {
    return this.fixture ? drawDelay(delay, () => this.fixture?.draws(`delay ${this.#delays++}`) ?? 0) : 0;
  }

  /** Fills the templates of a tree; a text that consists of one template becomes its value. */
  #fill<T>(tree: T): T {
    return this.fixture ? (this.#filled(fillTemplates(tree, this.fixture.values)) as T) : tree; // the filled tree has the same shape
  }

  /** Fills the templates of a text; the result is always a text. */
  #text(text: string): string {
    return this.fixture ? this.#filled(fillText(text, this.fixture.values)) : text;
  }

  #filled<T>({ value, missing }: { readonly value: T; readonly missing: readonly string[] }): T {
    if (missing.length > 0) this.conversation.warn(`template values not found: ${missing.join(', ')}`);
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
    this.conversation.logChanges('middleware', changes);
    return value;
  }
}

/** Braces in a layout are literal, not templates. */
function layoutText(layout: string | undefined): string | undefined {
  return layout?.replaceAll('\\{{', '{{');
}

/** Returns the planned reply to an answer; undefined without one. */
function branchOf(step: Step, answer: string): Reply | undefined {
  if (step.kind === 'choice') return Object.hasOwn(step.then, answer) ? step.then[answer] : undefined;
  return step.kind === 'oauth' && (answer === 'granted' || answer === 'refused') ? step[answer] : undefined;
}

/** The `text` of a payload: a string unchanged, other JSON compact (seed 003). @throws TypeError if it is not JSON. */
export function textOfPayload(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}
