import type { OAuth, UserChoice } from '../protocol/callbacks/index.js';
import type { Event } from './events.js';
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
