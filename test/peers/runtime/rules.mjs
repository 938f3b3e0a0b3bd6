import { acknowledgementFaults } from './rules/acknowledgement.mjs';
import { attemptFaults, unfinishedFaults } from './rules/attempts.mjs';
import { displayFaults } from './rules/display.mjs';
import { formFaults } from './rules/form.mjs';
import { nameFaults } from './rules/names.mjs';
import { orderFaults } from './rules/order.mjs';
import { questionFaults } from './rules/questions.mjs';
import { textFaults } from './rules/texts.mjs';

const RULES = [
  acknowledgementFaults,
  formFaults,
  nameFaults,
  orderFaults,
  questionFaults,
  displayFaults,
  textFaults,
  attemptFaults,
];

/** Everything about one call that a good tool would not have done: `{id, why}`, with the ids of the protocol's table. */
export function faultsOf(call) {
  return RULES.flatMap(rule => [...rule(call)]);
}

/** What only shows when nothing more is expected of the call. */
export function openEndsOf(call) {
  return [...unfinishedFaults(call)];
}
