import type { Exchange, Settlement } from '../events/exchange.js';

type Cancel = Extract<Settlement, { by: 'cancel' }>;

/** Why a pending call was canceled: a person interrupted it, or a question of the tool could not be answered. */
export function cancelText({ questions }: Pick<Exchange, 'questions'>, { who }: Cancel): string {
  if (who === 'person') return 'interrupted';
  const isAsked = questions.some(({ message, isAnswered }) => message.type === 'user_choice' && !isAnswered);
  return isAsked ? 'canceled: its question was not answered' : 'canceled';
}

const BASIS_WORDS: Readonly<Record<string, string>> = { convention: 'by convention', ours: 'local' };

/** How an outcome is known; an unknown basis is shown unchanged. */
export function basisWords(basis: string): string {
  return BASIS_WORDS[basis] ?? basis;
}
