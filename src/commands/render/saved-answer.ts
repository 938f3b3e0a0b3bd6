import type { ValidReading } from '../../dialects/dialect.js';
import type { JudgedOutcome } from '../../protocol/outcome.js';
import { callHeading } from '../../render/callbacks.js';
import { type Line, line, quote, say, textLines } from '../../render/line.js';
import { llmPane } from '../../render/panes.js';
import { basisLine } from '../../render/steps.js';
import { textWarnings } from '../../render/warnings.js';
import { safeJson } from '../../util/redact.js';
import { truncate } from '../../util/text.js';
import { type Json, messagesOf, type Saved, type Section, saved } from './saved.js';

/** Returns an answer of a tool. @param kind its name in `-o json` */
export function savedAnswer(
  kind: string,
  reading: ValidReading,
  { notes, source }: Json,
  panes?: Section,
): Saved {
  return saved(
    kind,
    answerSections(kind, reading, panes),
    answerReport(reading),
    [...messagesOf(notes), ...answerWarnings(reading)],
    () => [{ ...reading, source: () => source([]) }],
  );
}

/** Returns the sections for how the call ended, what the model gets, and members that no pane shows. */
export function answerSections(
  what: string,
  { answer, text }: ValidReading,
  panes: Section = llmPane(text, true),
): Section[] {
  const { call, outcome, beside = {} } = answer;
  const by = call.tool === undefined ? [] : [say(' by ', 'dim'), ...quote(call.tool)];
  const heading = callHeading(what, call.id === null ? {} : { id: call.id });
  const others = { META: beside.meta, 'OTHER FIELDS': beside['other fields'] };
  return [[[...heading, ...by], ...outcomeLines(outcome)], panes, ...Object.entries(others).map(jsonSection)];
}

export function jsonSection([title, value]: [title: string, value: unknown]): Line[] {
  if (value === undefined) return [];
  return [[say(title, 'title')], ...textLines(safeJson(value, 2), Number.POSITIVE_INFINITY).lines];
}

export const answerReport = ({ native, answer, text }: ValidReading) => ({
  message: native,
  outcome: answer.outcome,
  llm: { text },
});

export const answerWarnings = ({ notes, text }: ValidReading) => [
  ...messagesOf(notes),
  ...textWarnings(text),
];

/** Maximum number of characters of an outcome's member. */
const MAX_MEMBER = 300;

/** Returns an outcome and its members, one per line. */
export function outcomeLines({ type, basis, ...members }: JudgedOutcome): Line[] {
  const [mark, tone] = type === 'success' ? (['✓', 'good'] as const) : (['✗', 'bad'] as const);
  return [
    line`${say(`${mark} `, tone)}outcome ${say(type, tone)}${say(` (${basisLine(basis)})`, 'dim')}`,
    ...Object.entries(members).flatMap(([name, value]): Line[] => {
      if (value === undefined) return [];
      const text = truncate(typeof value === 'string' ? value : safeJson(value), MAX_MEMBER);
      return [[say(`    ${name}  `, 'dim'), ...quote(text)]];
    }),
  ];
}
