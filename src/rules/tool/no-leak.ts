import { errorTexts } from '../evidence/error-texts.js';
import { internalsIn } from '../evidence/internals.js';
import { broken, held } from '../observation.js';
import type { Rule } from '../rule.js';

/** TOOL-NOLEAK: an error says what went wrong, not where in the tool. */
export const hidesItsInsides: Rule = {
  id: 'TOOL-NOLEAK',
  absent: 'no call ended in an error',
  observe: evidence =>
    errorTexts(evidence).map(({ text, spot, callback, call }) => {
      const found = internalsIn(text, call);
      return found === null
        ? held([callback])
        : broken(`${found.what} stands in an error`, [callback], {
            spots: [{ ...spot, range: found.range }],
          });
    }),
};
