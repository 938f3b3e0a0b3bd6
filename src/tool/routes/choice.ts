import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import { choiceResponseSchema } from '../../protocol/notices.js';
import { validate } from '../../protocol/validate.js';
import { visibleLine } from '../../text/visible.js';
import type { Answer, Route } from '../../transport/server.js';
import type { ChoiceQuestion } from '../conversation/people.js';
import type { Questions } from '../conversation/questions.js';
import { type Concern, ServedRequest } from '../intake/served-request.js';

export const CHOICE_PREFIX = '/choices/';

/** Where a runtime says what the user picked (TOOL-CHOICE). The first answer counts; a repeated one is taken all the same. */
export function choiceRoute(log: Log, questions: Questions<number, ChoiceQuestion>): Route {
  return {
    name: 'choice',
    method: 'POST',
    accepts: 'json',
    serves: path => questions.at(path) !== undefined,
    handle: incoming => {
      const question = questions.at(incoming.target);
      const body = new Content(incoming.body);
      if (!question) return { status: 404 };
      const { choices, calls, thread, id } = question.about;
      const about = { calls: [...calls], thread };
      const request = new ServedRequest(log, incoming, { purpose: 'choice', about, body });
      const checked = validate(choiceResponseSchema, body.json.ok ? body.json.value : undefined);
      if (!checked.ok || checked.value.id !== id || checked.value.selected >= choices.length)
        return refused(request, log, question.about);
      const { selected } = checked.value;
      if (question.resolve(selected))
        log.emit({ kind: 'decided', what: 'choice', by: 'person', value: selected, ...about });
      return request.answer(200);
    },
  };
}

/** Whoever answers by hand sees what to write; whoever runs the mock, why it was not taken. */
function refused(request: ServedRequest, log: Log, { id, choices, calls, thread }: ChoiceQuestion): Answer {
  const about: Concern = { calls: [...calls], thread };
  const labels = choices.map((choice, index) => `${index} ${visibleLine(choice)}`).join(', ');
  const such = JSON.stringify({ id, selected: choices.length - 1 });
  log.emit({
    kind: 'warned',
    message: 'an answer must name the id of the call and the index of a choice',
    ...about,
  });
  return request.answer(400, {
    body: `The answer must name the id of the call and the index of a choice, such as ${such}; choices: ${labels}\n`,
  });
}
