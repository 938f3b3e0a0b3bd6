import type { Form } from './form.js';

/** Whether what a form with faults holds was changed: what was said of them may not be so any more. */
export function isMending(before: Form, after: Form): boolean {
  const isChanged = after.root !== before.root || after.raw.text !== before.raw.text;
  return before.faults.length > 0 && isChanged;
}
