import type { Offer } from '../fixtures/cases/case.js';
import type { CallbackType } from '../protocol/callbacks/index.js';
import type { CallEvidence } from './evidence/evidence.js';
import { toldAs } from './evidence/messages.js';

/** Of what a case says that its call starts, that which did not come in a message that could be read. */
export function missingOffers(offers: readonly Offer[], call: CallEvidence): readonly string[] {
  return offers
    .filter(offer => !isStarted(offer, call))
    .map(offer => `no ${MESSAGES[offer]} came, which it offers`);
}

const STARTS = { choice: 'user_choice', oauth: 'oauth', view: 'view_update' } as const satisfies Partial<
  Record<Offer, CallbackType>
>;
const MESSAGES: Readonly<Record<Offer, string>> = {
  ...STARTS,
  subscription: 'tool_result with subscription: true',
};

function isStarted(offer: Offer, call: CallEvidence): boolean {
  return offer === 'subscription'
    ? toldAs(call, 'tool_result').some(({ message }) => message.subscription === true)
    : toldAs(call, STARTS[offer]).length > 0;
}
