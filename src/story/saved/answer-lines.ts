import type { Feature, SoundReading } from '../../dialects/dialect.js';
import type { JudgedOutcome } from '../../outcome/outcome.js';
import { cut } from '../../text/cut.js';
import { safeJson } from '../../text/json-safe.js';
import { basisWords } from '../basis-words.js';
import type { Line, Tone } from '../line.js';
import { quote, say } from '../spans.js';
import { textLines } from '../text-lines.js';
import { callHeading } from './call-lines.js';

/** Of what stands beside the payload, at most this many lines for each part. */
const MOST_LINES = 40;
/** Characters; all of it is in the pane. */
const LONGEST_WORD = 300;

/** An answer of a tool by itself: which call it is for, and how that ended, with the basis on which it stands. */
export function answerLines(what: string, { answer }: SoundReading): Line[] {
  const { id, tool } = answer.call;
  const heading = callHeading(what, id === null ? {} : { id });
  const named = tool === undefined ? [] : [say(' by ', 'dim'), ...quote(tool)];
  return [[...heading, ...named], ...outcomeLines(answer.outcome)];
}

/** An outcome with its members, a line for each. */
export function outcomeLines({ type, basis, ...members }: JudgedOutcome): Line[] {
  const [mark, tone] = type === 'success' ? (['✓ ', 'good'] as const) : (['✗ ', 'bad'] as const);
  const said = Object.entries(members).filter(([, value]) => value !== undefined);
  return [
    [say(mark, tone), say('outcome '), say(type, outcomeTone(type)), say(` (${basisWords(basis)})`, 'dim')],
    ...said.map(
      ([name, value]): Line => [say(`    ${NAMES[name] ?? name}  `, 'dim'), ...quote(wordOf(value))],
    ),
  ];
}

const outcomeTone = (type: JudgedOutcome['type']): Tone => (type === 'success' ? 'good' : 'bad');

const NAMES: Readonly<Record<string, string>> = { errorType: 'type', durationMs: 'duration in ms' };

const TITLES: Readonly<Partial<Record<Feature, string>>> = {
  meta: 'META',
  'other fields': 'OTHER FIELDS',
};

/** What an answer says that no pane shows, as JSON for the eye. */
export function besideLines({ answer: { beside = {} } }: SoundReading): Line[] {
  return Object.entries(TITLES).flatMap(([feature, title]) => {
    const value = Object.entries(beside).find(([each]) => each === feature)?.[1];
    return value === undefined ? [] : jsonLines(title, value);
  });
}

/** A title, and below it JSON, of which no more is shown than a person reads. */
export function jsonLines(title: string, value: unknown): Line[] {
  const { lines, total } = textLines(safeJson(value, 2), MOST_LINES);
  const rest = total - lines.length;
  return [[say(title, 'title')], ...lines, ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : [])];
}

function wordOf(value: unknown): string {
  return cut(typeof value === 'string' ? value : safeJson(value), LONGEST_WORD);
}
