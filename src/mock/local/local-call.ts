import type { Answer, AnsweredCall, DialectName } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import type { Fact } from '../../events/events.js';
import { type Fixture, type FixtureSet, stepsOf } from '../../fixtures/fixture-set.js';
import type { StepKind } from '../../fixtures/schema/reply.js';
import { type Outcome, textOfOutcome } from '../../protocol/outcome.js';
import type { ChoiceQuestion, Consent, ConsentQuestion } from '../conversation.js';

/** A call that is answered in this process. */
export interface LocalCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The `id` for templates and handlers. Default: generated. */
  readonly id?: string;
  /** The thread that counts and states belong to. Default: one for all calls. */
  readonly groupId?: string;
  /** Names the call in every event. Default: made from thread and id. */
  readonly key?: string;
  /** For fixtures that match them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborted, the call is called off: its answer is then `canceled`, unless it had one. */
  readonly signal?: AbortSignal;
}

/** What a call shows or says beside its answer: a `view_update`, or a `subscription_event`. */
export type LocalMessage = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * How a call was answered (seed 003). A `payload` has been through response middleware and is JSON; `text` is what it is wrapped
 * into: a string as it is, other JSON encoded. A `verbatim` result is what was written, and no middleware has seen it. `silence`:
 * there is to be no answer at all.
 */
export type LocalReply =
  | { readonly kind: 'payload'; readonly payload: unknown; readonly text: string }
  | { readonly kind: 'verbatim'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'silence' };

/** Every reply but silence, which no wire has. */
export type SpokenReply = Exclude<LocalReply, { kind: 'silence' }>;

/** `said`: views and events before the answer, oldest first. Later ones are dropped. */
export type LocalAnswer = LocalReply & { readonly said: readonly LocalMessage[] };

/** An answer together with what went out over the wire: JSON; undefined where nothing did. */
export type SentAnswer = LocalAnswer & { readonly sent: unknown };

/** Answers questions in place of a person. */
export interface Asked {
  /** An index into `choices`, or null. */
  choice(question: ChoiceQuestion): Promise<number | null>;
  consent(question: ConsentQuestion): Promise<Consent | null>;
}

/** What only a `tool_result` of RAP has. */
const OF_RAP = ['type', 'text', 'display_as', 'subscription', 'group_id', 'id', 'call_id'];

/**
 * For which wire a result was written that is to go out verbatim. By its form: both have `content`, and no other field in common.
 * Applies to whole results only, never to a payload (seed 003).
 */
export function wireOfResult(result: Readonly<Record<string, unknown>>): Extract<DialectName, 'rap' | 'mcp'> {
  if (!Array.isArray(result['content']) || OF_RAP.some(field => Object.hasOwn(result, field))) return 'rap';
  return readAs('mcp', result).ok || !readAsRap(result).ok ? 'mcp' : 'rap';
}

/** A result as `tool_result`; what it is about is filled in. */
export function readAsRap(
  result: Readonly<Record<string, unknown>>,
  { thread = '', id }: { readonly thread?: string | undefined; readonly id?: string | null } = {},
) {
  return readAs('rap', { type: 'tool_result', group_id: thread, id: id ?? '', ...result });
}

/** How a call was answered in this process, in the one model's terms. @param call as its wire names it */
export function answerOfLocal(call: AnsweredCall, reply: SpokenReply): Answer {
  switch (reply.kind) {
    case 'payload':
      return { call, outcome: { type: 'success', basis: 'declared' }, payload: reply.payload };
    case 'outcome':
      return { call, outcome: { ...reply.outcome, basis: 'declared' } };
    case 'verbatim':
      return { ...answerOfResult(call, reply.result), call };
  }
}

/** What is written in no known form is a payload after all: nothing is lost. */
function answerOfResult(call: AnsweredCall, result: Readonly<Record<string, unknown>>): Omit<Answer, 'call'> {
  const reading = wireOfResult(result) === 'mcp' ? readAs('mcp', result) : readAsRap(result, call);
  if (reading.ok) return reading.answer;
  return { outcome: { type: 'success', basis: 'assumed' }, payload: result };
}

/** An answer as its wire has it. */
export interface Written {
  /** JSON. */
  readonly body: unknown;
  /** What a person should know of it. */
  readonly warnings: readonly string[];
}

/** How calls of a local tool are logged, and how their answers are written. */
export interface Wire {
  readonly dialect?: Extract<Fact, { kind: 'request' }>['dialect'];
  readonly url: string;
  readonly callMethod: string;
  readonly cancelMethod: string;
  /** A cancelled call gets no answer. */
  readonly dropsCancelled: boolean;
  /** @param isOffered whether there is such an operation at all */
  write(reply: SpokenReply, isOffered: () => boolean): Written;
}

/** Without a wire: in the words that would have gone over RAP. */
export const NO_WIRE: Wire = {
  url: 'local:',
  callMethod: 'CALL',
  cancelMethod: 'CANCEL',
  dropsCancelled: false,
  write: reply => ({ body: { type: 'tool_result', ...fieldsOf(reply) }, warnings: [] }),
};

function fieldsOf(reply: SpokenReply): object {
  switch (reply.kind) {
    case 'payload':
      return { text: reply.text };
    case 'outcome':
      return { text: textOfOutcome(reply.outcome) ?? '' };
    case 'verbatim':
      return reply.result;
  }
}

type Feature = 'faults' | 'events' | 'views' | 'choices' | 'consents';

const WORDS: Readonly<Record<Feature, string>> = {
  faults: 'faults apply to RAP callbacks only and are ignored',
  events: 'events are not sent',
  views: 'views are not sent',
  choices: 'choices are not asked; the default is used',
  consents: 'consents are not asked; they count as refused',
};
const FEATURES = Object.keys(WORDS) as readonly Feature[];
const MOST_NAMED = 5;

/** Lists, in sentences, what fixtures contain that a local call ignores. */
export function leftOut({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  const found = fixtures.map(fixture => ({ id: fixture.id, has: featuresOf(fixture) }));
  return FEATURES.flatMap(feature => {
    const ids = found.filter(({ has }) => has.has(feature)).map(({ id }) => id);
    return ids.length > 0 ? [`${WORDS[feature]} (${named(ids)})`] : [];
  });
}

const OF_STEPS: Readonly<Partial<Record<StepKind, Feature>>> = {
  event: 'events',
  view: 'views',
  choice: 'choices',
  oauth: 'consents',
};

function featuresOf(fixture: Fixture): ReadonlySet<Feature> {
  const { ack, callback } = fixture.faults;
  const fromSteps = stepsOf(fixture).flatMap(({ kind }) => OF_STEPS[kind] ?? []);
  return new Set<Feature>(ack || callback.length > 0 ? [...fromSteps, 'faults'] : fromSteps);
}

function named(ids: readonly string[]): string {
  const rest = ids.length - MOST_NAMED;
  const told = ids.slice(0, MOST_NAMED).join(', ');
  return rest > 0 ? `${told} and ${rest} more` : told;
}
