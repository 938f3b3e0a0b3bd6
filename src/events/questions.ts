import * as z from 'zod/mini';
import type { OAuth, UserChoice } from '../protocol/callbacks.js';
import { type Invocation, invocationSchema } from '../protocol/read-invocation.js';
import type { Event, InvocationEvent, RequestEvent } from './events.js';
import type { Arrival, Exchange, Question } from './exchange.js';

type Decision = Extract<Event, { kind: 'decided' }>;

const ANSWERED_BY = { choice: 'user_choice', consent: 'oauth' } as const;

/** What a person is still asked, the oldest first; nothing once the call has ended. */
export function openQuestions({ questions, settled }: Pick<Exchange, 'questions' | 'settled'>): Question[] {
  return settled ? [] : questions.filter(({ isAnswered }) => !isAnswered);
}

/** The open questions that are put as choices. */
export function openChoices(exchange: Pick<Exchange, 'questions' | 'settled'>): UserChoice[] {
  return openQuestions(exchange).flatMap(({ message }) => (message.type === 'user_choice' ? [message] : []));
}

/** The pages that are to be visited. */
export function openPages(exchange: Pick<Exchange, 'questions' | 'settled'>): OAuth[] {
  return openQuestions(exchange).flatMap(({ message }) => (message.type === 'oauth' ? [message] : []));
}

/** One more question. */
export function withQuestion(exchange: Exchange, { leg, message }: Arrival): Exchange {
  const isQuestion = message?.type === 'oauth' || message?.type === 'user_choice';
  return isQuestion
    ? withQuestions(exchange, [...exchange.questions, { leg, message, isAnswered: false }])
    : exchange;
}

/** One question less: the one that is meant, where it is open. */
export function withDecision(exchange: Exchange, what: 'choice' | 'consent', decision: Decision): Exchange {
  const { at, by, value } = decision;
  const index = exchange.questions.findIndex(
    ({ leg, message, isAnswered }) =>
      !isAnswered && message.type === ANSWERED_BY[what] && leg === (decision.question ?? leg),
  );
  const question = exchange.questions[index];
  if (!question) return exchange;
  const answered = withQuestions(exchange, exchange.questions.with(index, { ...question, isAnswered: true }));
  if (what !== 'choice' || typeof value !== 'number') return answered;
  const selection = { at, by, selected: value, question: question.leg };
  return { ...answered, selections: [...exchange.selections, selection] };
}

/** The exchange with these questions, and the one that is waited for. */
export function withQuestions(exchange: Exchange, questions: readonly Question[]): Exchange {
  const [first] = openQuestions({ ...exchange, questions });
  return { ...exchange, questions, waitingFor: first?.message ?? null };
}

/** Whether an invocation is answered where it was made, as MCP does it: a runtime of RAP is called back instead. */
export function isDirect({ from }: Pick<RequestEvent, 'from'>): boolean {
  return from === 'client';
}

/** On an MCP wire there is nowhere to call back, and no thread. */
const mcpCallSchema = z.extend(invocationSchema, {
  callback_url: z._default(z.string(), ''),
  group_id: z._default(z.string(), 'mcp'),
});

/** What an exchange begins with, by its wire; null where that cannot be read. */
export function invocationOf(event: InvocationEvent): Invocation | null {
  const json = event.body?.json;
  const schema = isOnMcp(event) ? mcpCallSchema : invocationSchema;
  const invocation = schema.safeParse(json?.ok ? json.value : undefined);
  return invocation.success ? invocation.data : null;
}

/** Whether it is a call that goes over MCP, sent or not. */
export function isOnMcp(event: InvocationEvent): boolean {
  return event.kind !== 'expected' && event.dialect === 'mcp';
}
