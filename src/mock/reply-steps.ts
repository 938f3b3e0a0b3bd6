import { expandDiffs, type StepPath } from '../fixtures/fixture-set.js';
import type { Reply, Step, StepKind } from '../fixtures/schema/reply.js';
import type { Invocation } from '../protocol/read-invocation.js';
import type { Conversation } from './conversation.js';
import type { Middlewares } from './middleware/middleware.js';

/** What the steps of a reply need besides their conversation. */
export interface Stage {
  readonly conversation: Conversation;
  readonly middlewares: Middlewares;
  /** As request middleware left it. */
  readonly invocation: Invocation;
  /** Fills the templates of a tree, which may change types: a text that is just one becomes the value. */
  readonly fill: <T>(tree: T) => T;
  /** Fills the templates of texts, which stay texts. */
  readonly say: <T>(words: T) => T;
  /** Milliseconds. */
  readonly delayOf: (step: Step) => number;
  readonly enter: (state: string) => void;
}

type StepOf<K extends StepKind> = Extract<Step, { kind: K }>;
type Player = (step: Step, stage: Stage, place: Place) => Promise<void>;
type Players = { readonly [K in StepKind]: (step: StepOf<K>, stage: Stage, place: Place) => Promise<void> };

/** Where in the whole answer a reply stands: it may be a branch of a question. */
interface Standing {
  /** Its first step that is played; what is before was played before a restart. */
  readonly from?: StepPath;
  /** The path that leads to it. */
  readonly under?: StepPath;
  /** Where the answer goes on after it; undefined where it does not. */
  readonly after?: StepPath | undefined;
}

/** Where in the whole answer one step stands. */
interface Place {
  readonly here: StepPath;
  readonly next: StepPath | undefined;
}

/** Plays a reply, step by step; what a cancelled call still owes is a result that says so (TOOL-ALWAYS). */
export async function play(
  reply: Reply,
  stage: Stage,
  { from: [first = 0, answer, ...deeper] = START, under = START, after }: Standing = {},
): Promise<void> {
  for (const [index, step] of reply.entries()) {
    if (index < Number(first)) continue;
    const place = { here: [...under, index], next: index + 1 < reply.length ? [...under, index + 1] : after };
    if (index === first && answer !== undefined)
      await playBranch(step, String(answer), stage, place, deeper); // it was asked before a restart
    else if (!(await playInTurn(step, reply[index + 1], stage, place))) return;
  }
}

/** False where the call was called off before. */
async function playInTurn(
  step: Step,
  following: Step | undefined,
  stage: Stage,
  place: Place,
): Promise<boolean> {
  const { conversation, delayOf, enter } = stage;
  const ms = delayOf(step);
  if (ms > 0) await conversation.pause(ms);
  if (conversation.isCancelled) {
    await conversation.canceled();
    return false;
  }
  if (step.state !== undefined) enter(step.state);
  if (!asks(step) && isOnDemand(following)) conversation.waits.expectTrigger();
  conversation.goesOnAt(asks(step) ? undefined : place.next);
  await playStep(step, stage, place);
  return true;
}

/** Does nothing where nothing is planned for that answer. */
async function playBranch(
  step: Step,
  answer: string,
  stage: Stage,
  { here, next }: Place,
  from = START,
): Promise<void> {
  const branch = branchOf(step, answer);
  if (branch) await play(branch, stage, { from, under: [...here, answer], after: next });
}

const START: StepPath = [];
/** For a step that is a whole reply. */
const ALONE: Place = { here: [0], next: undefined };

/** The one step of the kinds there are. @throws TypeError for a kind that is not known here. */
export function playStep(step: Step, stage: Stage, place = ALONE): Promise<void> {
  if (!Object.hasOwn(PLAYERS, step.kind)) throw new TypeError(`unknown kind of reply: "${step.kind}"`);
  return (PLAYERS[step.kind] as Player)(step, stage, place);
}

const PLAYERS: Players = {
  payload: async ({ payload }, { conversation, middlewares, invocation, fill }) => {
    const { value, told } = await middlewares.response(fill(payload), invocation);
    conversation.shaped('middleware', told);
    await conversation.payload(value);
  },
  result: async ({ result, layout }, { conversation, middlewares, invocation, fill }) => {
    const fields = await expandDiffs(fill(result));
    const changes = middlewares.wouldChange(fields, invocation);
    conversation.shaped('verbatim', changes);
    if (changes.length > 0)
      conversation.warn(`a result was sent verbatim; middleware would have changed it at ${places(changes)}`);
    await conversation.result(fields, textOf(layout));
  },
  error: ({ error: { message, code, type: errorType } }, stage) =>
    stage.conversation.outcome({
      type: 'error',
      message: clean(message, stage),
      ...stage.say({ ...(code !== undefined && { code }), ...(errorType !== undefined && { errorType }) }),
    }),
  canceled: ({ canceled: { reason, ...more } }, stage) =>
    stage.conversation.outcome({
      type: 'canceled',
      ...stage.say(more),
      ...(reason !== undefined && { reason: clean(reason, stage) }),
    }),
  timeout: ({ timeout }, { conversation }) => conversation.outcome({ type: 'timeout', ...timeout }),
  denied: ({ denied: { reason, ...more } }, stage) =>
    stage.conversation.outcome({
      type: 'denied',
      ...stage.say(more),
      ...(reason !== undefined && { reason: clean(reason, stage) }),
    }),
  silence: async (_, { conversation }) => conversation.silence(),
  event: async ({ event: { text, ...more }, on, layout }, { conversation, fill, say }) => {
    if (on === 'demand' && !(await conversation.waits.triggered())) return;
    await conversation.event({ text: say(text), ...fill(more) }, textOf(layout));
  },
  view: async ({ view: { view_type, content }, layout }, { conversation, fill, say }) =>
    conversation.view(
      await expandDiffs({ view_type: say(view_type), content: fill(content) }),
      textOf(layout),
    ),
  choice: async (step, stage, { here, next }) => {
    const { conversation, say } = stage;
    const { prompt, choices, default: preset } = say(step.choice);
    const { key, addressee } = conversation.caller;
    const about = { calls: [key], thread: addressee.group_id, id: addressee.id };
    const picked = await conversation.choice(
      { prompt, choices, default: preset, ...about },
      step.within,
      textOf(step.layout),
    );
    if (picked === null) return unanswered(conversation, `"${prompt}" was not answered`, next);
    const label = step.choice.choices[picked] ?? '';
    const branch = branchOf(step, label);
    if (branch) return play(branch, stage, { under: [...here, label], after: next });
    conversation.goesOnAt(next);
    await conversation.outcome({
      type: 'error',
      message: `the fixture has no reply for the choice "${label}"`,
    });
  },
  oauth: async (step, stage, { here, next }) => {
    const { conversation, say, invocation } = stage;
    const { scopes = [], auth_url } = say(step.oauth);
    const { key, addressee } = conversation.caller;
    const question = { operation: invocation.operation, scopes, calls: [key], thread: addressee.group_id };
    const consent = await conversation.consent(question, step.within, auth_url, textOf(step.layout));
    if (consent === null) return unanswered(conversation, 'authorization was not given', next);
    await play(step[consent], stage, { under: [...here, consent], after: next });
  },
};

/** Braces in a layout are literal, not templates. */
function textOf(layout: string | undefined): string | undefined {
  return layout?.replaceAll('\\{{', '{{');
}

/** What a question leads to; undefined where nothing is planned for that answer. */
function branchOf(step: Step, answer: string): Reply | undefined {
  if (step.kind === 'choice') return Object.hasOwn(step.then, answer) ? step.then[answer] : undefined;
  return step.kind === 'oauth' && (answer === 'granted' || answer === 'refused') ? step[answer] : undefined;
}

/** Words for the LLM that are no payload: filled in, and without secrets as one is (TOOL-SECRET). */
function clean(words: string, { conversation, middlewares, invocation, say }: Stage): string {
  const { value, told } = middlewares.words(say(words), invocation);
  conversation.shaped('middleware', told);
  return value;
}

/** A question: it is fired itself, before what comes after it. */
function asks({ kind }: Step): boolean {
  return kind === 'choice' || kind === 'oauth';
}

function isOnDemand(step: Step | undefined): boolean {
  return step?.kind === 'event' && step.on === 'demand';
}

/** Not where the call itself was cancelled: that is said instead. */
function unanswered(conversation: Conversation, what: string, next: StepPath | undefined): Promise<void> {
  if (conversation.isCancelled) return conversation.canceled();
  conversation.goesOnAt(next);
  const message = conversation.isStopping
    ? `the tool is stopping and ${what}; call again later`
    : `${what} in time; ask the user and call again`;
  return conversation.outcome({ type: 'error', message });
}

function places(changes: readonly { readonly path: string }[]): string {
  return changes.map(({ path }) => path).join(', ');
}

/** The `text` of a payload: a string unchanged, other JSON compact (seed 003). @throws TypeError if it is not JSON. */
export function textOfPayload(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}
