import type { Exchange, Settlement } from '../events/exchange.js';

type Cancel = Extract<Settlement, { by: 'cancel' }>;

/** Why a call was not waited for any longer: a person stopped it, or nobody was there to answer what its tool asked. */
export function givenUpWords({ questions }: Pick<Exchange, 'questions'>, { who }: Cancel): string {
  if (who === 'person') return 'interrupted';
  const isAsked = questions.some(({ message, isAnswered }) => message.type === 'user_choice' && !isAnswered);
  return isAsked ? 'given up: nobody answered its question' : 'given up';
}

/** On what an outcome stands, in words; another basis than is known here has its own. */
export function basisWords(basis: string): string {
  return basis === 'convention' ? 'by convention' : basis;
}
