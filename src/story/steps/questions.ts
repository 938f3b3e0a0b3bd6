import type { Arrival, Exchange, Selection } from '../../exchange/exchange.js';
import type { Line } from '../line.js';
import { DEFAULT } from '../question-lines.js';
import { quote, say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { type Step, step } from './step.js';

/** More choices than this are only counted. */
const NAMED = 20;

/** What the tool asks the user. */
export function questionLine(message: Arrival['message']): Line {
  if (message?.type === 'oauth')
    return [say('visit '), ...quote(message.auth_url, 'title'), say(' to go on')];
  if (message?.type !== 'user_choice') return [];
  const { prompt, choices, default: preset } = message;
  const rest = choices.length - NAMED;
  return [
    say('the tool asks: '),
    ...clipped(prompt, 'title'),
    ...choices
      .slice(0, NAMED)
      .flatMap((choice, index) => [
        say(`  ${index} `, 'dim'),
        ...clipped(choice),
        ...(index === preset ? [DEFAULT] : []),
      ]),
    ...(rest > 0 ? [say(`  and ${rest} more`, 'dim')] : []),
  ];
}

const PICKED: Readonly<Record<Selection['by'], string>> = {
  person: 'you picked',
  flag: '--choose picked',
  policy: 'the policy picked',
};

/** What was picked of a question's choices, and by whom. */
export function selectionStep(exchange: Exchange, { at, by, selected, question }: Selection): Step {
  const asked = exchange.questions.find(({ leg }) => leg === question)?.message;
  const { choices = [], default: preset } = asked?.type === 'user_choice' ? asked : {};
  const isDefault = selected === preset ? [say(' (the default)', 'dim')] : [];
  const label = clipped(choices[selected] ?? '', 'title');
  const key = `selection:${exchange.key}:${question}`;
  return step(key, at, 'done', say(`${PICKED[by]} ${selected} `), ...label, ...isDefault);
}
