import type { UserChoice } from '../../protocol/callbacks/index.js';
import { choiceResponseSchema } from '../../protocol/notices.js';
import { validate } from '../../protocol/validate.js';
import { tokenlessUrl } from '../../text/redact.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import type { Leg } from '../evidence/leg.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { broken, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** RT-CHOICE: the selection is POSTed to the question's `response_url`, as one of its choices. */
export const postsSelections: Rule = {
  id: 'RT-CHOICE',
  absent: 'no tool offered a choice',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall({ callbacks, selections, expiries, cancels }: CallEvidence): Observation[] {
  const asked = callbacks.flatMap(callback =>
    callback.reading?.ok && callback.reading.message.type === 'user_choice'
      ? [{ callback, question: callback.reading.message }]
      : [],
  );
  const [first] = asked;
  if (!first) return [];
  const questions = asked.map(({ question }) => question);
  if (selections.length > 0) return selections.map(selection => onSelection(selection, questions));
  if (cancels.length > 0) return [];
  if (expiries.some(({ what }) => what === 'timeout'))
    return [lacking('was never answered, not even with the default', [first.callback])];
  return [unseen('no selection was seen', [first.callback])];
}

function onSelection(selection: Leg, questions: readonly UserChoice[]): Observation {
  const { url, body, method } = selection.request;
  if (isBodyLost(selection.request)) return unseen('the body of a selection was not kept', [selection]);
  const read = validate(choiceResponseSchema, body?.json.ok ? body.json.value : undefined);
  if (method !== 'POST' || !read.ok) return broken('the selection is no {id, selected}', [selection]);
  const { id, selected } = read.value;
  const question = questions.find(each => each.id === id && leadsTo(each, url));
  if (!question) return lacking("the selection went elsewhere, or names another call's id", [selection]);
  if (selected < question.choices.length) return held([selection]);
  const expected = `0 to ${question.choices.length - 1}`;
  return broken('the selection is none of the choices', [selection], {
    expected,
    actual: String(selected),
    spots: [sent(selection, 'selected')],
  });
}

/** A tool sees no more than the path; a transcript tells it without its token. */
function leadsTo({ response_url }: UserChoice, url: string): boolean {
  return tokenlessUrl(response_url).endsWith(tokenlessUrl(url));
}
