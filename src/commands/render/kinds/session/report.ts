import type * as z from 'zod/mini';
import { readAs } from '../../../../dialects/index.js';
import { validate } from '../../../../protocol/validate.js';
import { sessionReportSchema } from '../../../../reporters/session/report-schema.js';
import { outcomeLines } from '../../../../story/saved/answer-lines.js';
import { callHeading } from '../../../../story/saved/call-lines.js';
import { problemLines } from '../../../../story/saved/problem-lines.js';
import { finalLines } from '../../../../story/session/final-words.js';
import { quote, say } from '../../../../story/spans.js';
import { isRecord } from '../../../../text/is-record.js';
import { linesSection, type Section } from '../../sheet.js';
import { answerSections } from '../answer.js';
import type { Kind, SavedAnswer } from '../kind.js';
import { known } from '../report.js';
import { nameOf } from './answers.js';

type SavedSession = z.infer<typeof sessionReportSchema>;
type SavedCall = NonNullable<SavedSession['calls']>[number];

/** The object that `session answer -o json` prints at its end. */
export const sessionReportKind: Kind = {
  name: 'a report of an agent session (session answer -o json)',
  dialect: 'session',
  keys: ['session', 'calls', 'forgotten'],
  isMeant: ({ session, calls }) => isRecord(session) && Array.isArray(calls),
  async read({ value }) {
    const checked = validate(sessionReportSchema, value);
    if (!checked.ok) return checked;
    const { calls = [] } = checked.value;
    const sections = () => sectionsOf(checked.value);
    return {
      ok: true,
      saved: { sections, report: () => value, answers: () => calls.flatMap(answerIn), faults: [] },
    };
  },
};

function sectionsOf({ session, calls = [], warnings, error }: SavedSession): Section[] {
  return [
    linesSection(session ? sessionHead(session) : []),
    ...calls.flatMap(callSections),
    linesSection(session?.answer === undefined ? [] : finalLines({ answer: { value: session.answer } })),
    linesSection(problemLines(warnings.map(known), error ?? null)),
  ];
}

function sessionHead({ id, url, status, rounds, error }: NonNullable<SavedSession['session']>) {
  const standing = `${status ?? 'not heard of'} · ${rounds} round${rounds === 1 ? '' : 's'}`;
  return [
    [say('SESSION ', 'title'), ...quote(id, 'title'), say('  '), ...quote(standing)],
    quote(url, 'dim'),
    ...(error === null ? [] : [[say('✗ ', 'bad'), ...quote(error)]]),
  ];
}

/** What the agent was given for a call, then what became of it. */
function callSections({ key, tool_name, outcome, body, posted }: SavedCall): Section[] {
  const reading = readAs('session', body);
  const state = posted?.state ?? (body === undefined ? 'not answered' : 'not posted');
  const standing = linesSection([[say('  ', 'gutter'), ...quote(state, 'dim')]]);
  if (reading.ok) return [...answerSections(nameOf(reading), reading), standing];
  const heading = [...callHeading('CALL', { id: key }), say(' by ', 'dim'), ...quote(tool_name)];
  return [linesSection([heading, ...(outcome ? outcomeLines(outcome) : [])]), standing];
}

/** An `error_event` does not say which kind of failure it was; the report does. */
function answerIn({ outcome, body }: SavedCall, index: number): SavedAnswer[] {
  const reading = readAs('session', body);
  if (!reading.ok) return [];
  const { answer } = reading;
  const isOurs = answer.outcome.type === 'error' && outcome !== null && outcome.type !== 'success';
  return [{ ...reading, answer: isOurs ? { ...answer, outcome } : answer, at: ['calls', index, 'body'] }];
}
