import * as z from 'zod/mini';
import type { SoundReading } from '../../dialects/dialect.js';
import { readAs, type Translatable } from '../../dialects/dialects.js';
import { answerOfMcp, answerOfOurs, answerOfResult } from '../../events/answer.js';
import { readMcpAnswer } from '../../events/mcp-answer.js';
import { toolResultSchema } from '../../protocol/callbacks/tool-result.js';
import { isRequirementId, type Warning } from '../../protocol/requirements.js';
import { validate } from '../../protocol/validate.js';
import { finalLines } from '../../render/call-details.js';
import { type Line, line, marked, quote, say, took } from '../../render/line.js';
import { reportSchema } from '../../render/outputs/report-schema.js';
import { sessionReportSchema } from '../../render/outputs/session-schema.js';
import { viewPane } from '../../render/pane-lines.js';
import { llmPane, type Pane, panesOfMcp, panesOfResult } from '../../render/panes.js';
import {
  answerLines,
  besideLines,
  callHeading,
  outcomeLines,
  problemLines,
} from '../../render/saved-answers.js';
import { basisWords } from '../../render/steps.js';
import { isRecord } from '../../util/values.js';
import {
  type Kind,
  linesSection,
  paneSection,
  panesSection,
  recognized,
  type Saved,
  type SavedAnswer,
  type Section,
  type View,
} from './saved.js';

/** How the call ended, what the model gets, and what the answer says besides. */
export function answerSections(
  kind: string,
  reading: SoundReading,
  panes = paneSection(llmPane(reading.text, true)),
): Section[] {
  return [linesSection(answerLines(kind, reading)), panes, linesSection(besideLines(reading))];
}

/** What an agent session calls an answer; of an unknown outcome, the name that it came with. */
export function kindOfAnswer({ answer: { outcome } }: SoundReading): string {
  if (outcome.type === 'unknown') return String(outcome.raw);
  return outcome.type === 'success' ? 'tool_result' : 'error_event';
}

/** What `invoke -o json` prints. */
const savedReportSchema = z
  .extend(reportSchema, { result: z.nullish(z.unknown()) })
  .check(({ value: { dialect, result }, issues }) => {
    const add = (path: PropertyKey[], message: string) =>
      issues.push({ code: 'custom', input: result, path: ['result', ...path], message });
    if (result === undefined || result === null) return;
    if (dialect === 'mcp') {
      const { reading, text } = mcpAnswerOf(result);
      if (!reading) add([], text);
    } else
      for (const { path, message } of toolResultSchema.safeParse(result).error?.issues ?? [])
        add(path, message);
  });

type SavedReport = z.infer<typeof savedReportSchema>;

const mcpAnswerOf = (value: unknown) => readMcpAnswer({ ok: true, value, notes: [] });

export const reportKind: Kind = {
  name: 'a report (invoke -o json)',
  dialect: 'rap',
  keys: ['invocation', 'endpoint', 'acknowledgement', 'outcome', 'result', 'llm', 'display', 'callbacks'],
  isMeant: ({ invocation, warnings, error }) =>
    isRecord(invocation) || (Array.isArray(warnings) && isRecord(error)),
  read: ({ value }) =>
    recognized(validate(savedReportSchema, value), ({ value: report }) => ({
      sections: view => reportSections(report, view),
      report: () => value,
      answers: () => reportAnswers(report, value, []),
    })),
};

/** What `--repeat` prints; its summary is not drawn, since each call is. */
const repeatsSchema = z.object({
  calls: z.array(savedReportSchema),
  warnings: reportSchema.shape.warnings,
});

export const repeatsKind: Kind = {
  name: 'a report of many calls (invoke --repeat -o json)',
  dialect: 'rap',
  keys: ['calls', 'summary'],
  isMeant: ({ calls, warnings }) => Array.isArray(calls) && Array.isArray(warnings),
  read: ({ value }) =>
    recognized(validate(repeatsSchema, value), ({ value: { calls, warnings } }) => ({
      sections: view => [
        ...calls.flatMap((call, index) => [
          linesSection([[say(`CALL ${index + 1} of ${calls.length}`, 'title')]]),
          ...reportSections(call, view),
        ]),
        linesSection(problemLines(warnings.map(asWarning))),
      ],
      report: () => value,
      answers: () => {
        const natives = isRecord(value) && Array.isArray(value['calls']) ? value['calls'] : [];
        return calls.flatMap((call, index) => reportAnswers(call, natives[index], ['calls', index]));
      },
    })),
};

function reportSections(report: SavedReport, { supports }: View): Section[] {
  const { invocation, views = [], error, warnings, dialect, result, llm } = report;
  const panes = isRecord(result) ? [panesSection(resultPanes(dialect, result, supports))] : [];
  const ours = panes.length === 0 && llm ? [paneSection(llmPane(llm.text, false))] : [];
  return [
    linesSection(invocation ? [callHeading(invocation.operation, invocation)] : []),
    linesSection(reportLines(report)),
    ...panes,
    ...ours,
    ...views.map(view => paneSection(viewPane(view))),
    linesSection(problemLines(warnings.map(asWarning), error ?? null)),
  ];
}

/** The steps of a reported call; times count from its first request. */
function reportLines({
  invocation,
  endpoint,
  acknowledgement,
  outcome,
  callbacks = [],
}: SavedReport): Line[] {
  const where = endpoint !== undefined && line` to ${quote(endpoint)}`;
  const basis = outcome && line` (${quote(basisWords(outcome.basis))})`;
  return [
    ...(invocation ? [marked('done', line`sent ${quote(invocation.operation, 'title')}${where}`)] : []),
    ...(acknowledgement ? [acknowledgementLine(acknowledgement)] : []),
    ...callbacks.map(callbackLine),
    ...(outcome && outcome.type !== 'success'
      ? [marked('failed', line`outcome ${quote(outcome.type)}${basis}`)]
      : []),
  ];
}

function acknowledgementLine({ status, ms }: NonNullable<SavedReport['acknowledgement']>): Line {
  if (status === 200) return marked('done', line`acknowledged with 200${took(ms)}`);
  return marked('failed', line`answered ${status} instead of 200${took(ms)}`);
}

function callbackLine(callback: NonNullable<SavedReport['callbacks']>[number]): Line {
  const { type, ms, verdict, status, ourStatus = status, reason, text } = callback;
  if (verdict === 'settles') return marked('done', line`result${took(ms)}`);
  const isOurs = status !== null && ourStatus === status;
  const words = reason ?? text;
  const why = words !== undefined && line`: ${quote(words)}`;
  const answered = status === null ? '; the runtime did not answer' : `; the runtime answered ${status}`;
  const told = line`${quote(type ?? 'callback', 'title')} ${verdict}${isOurs && ` with ${status}`}${why}${!isOurs && answered}${took(ms)}`;
  return marked(ourStatus === 200 ? 'note' : 'failed', told);
}

/** @param result valid by the schema of the report */
function resultPanes(
  dialect: 'mcp' | undefined,
  result: unknown,
  supports: ReadonlySet<string>,
): Record<'human' | 'llm', Pane> {
  return dialect === 'mcp'
    ? panesOfMcp(mcpAnswerOf(result))
    : panesOfResult(toolResultSchema.parse(result), supports);
}

/** The answer of a call. @param native the report as it was written: a result has more members than the schema */
function reportAnswers(report: SavedReport, native: unknown, at: readonly PropertyKey[]): SavedAnswer[] {
  const { dialect, invocation, outcome, result } = report;
  const whole = isRecord(native) ? native['result'] : result;
  const answer = (): Translatable | null => {
    if (result && dialect === 'mcp') {
      const { reading } = mcpAnswerOf(whole);
      return reading && answerOfMcp(invocation, reading);
    }
    if (result) return answerOfResult(invocation, whole);
    return outcome && invocation ? { answer: answerOfOurs(invocation, outcome) } : null;
  };
  const found = answer();
  return found ? [found.dialect ? { ...found, at: [...at, 'result'] } : found] : [];
}

/** An unknown id becomes part of the message. */
function asWarning({ id, message }: SavedReport['warnings'][number]): Warning {
  if (id === undefined) return { message };
  return isRequirementId(id) ? { id, message } : { message: `${message} [${id}]` };
}

type SavedSession = z.infer<typeof sessionReportSchema>;

type SavedCall = NonNullable<SavedSession['calls']>[number];

export const sessionReportKind: Kind = {
  name: 'a report of an agent session (session answer -o json)',
  dialect: 'session',
  keys: ['session', 'calls', 'forgotten'],
  isMeant: ({ session, calls }) => isRecord(session) && Array.isArray(calls),
  read: ({ value }) =>
    recognized(
      validate(sessionReportSchema, value),
      ({ value: report }): Saved => ({
        sections: () => sessionSections(report),
        report: () => value,
        answers: () => (report.calls ?? []).flatMap(sessionAnswer),
      }),
    ),
};

function sessionSections({ session, calls = [], warnings, error }: SavedSession): Section[] {
  return [
    linesSection(session ? sessionHead(session) : []),
    ...calls.flatMap(sessionCallSections),
    linesSection(session?.answer === undefined ? [] : finalLines({ answer: { value: session.answer } })),
    linesSection(problemLines(warnings.map(asWarning), error ?? null)),
  ];
}

function sessionHead({ id, url, status, rounds, error }: NonNullable<SavedSession['session']>) {
  const state = `${status ?? 'not heard of'} · ${rounds} round${rounds === 1 ? '' : 's'}`;
  return [
    [say('SESSION ', 'title'), ...quote(id, 'title'), say('  '), ...quote(state)],
    quote(url, 'dim'),
    ...(error === null ? [] : [[say('✗ ', 'bad'), ...quote(error)]]),
  ];
}

/** What the agent was given for a call, then what became of the answer. */
function sessionCallSections({ key, tool_name, outcome, body, posted }: SavedCall): Section[] {
  const reading = readAs('session', body);
  const state = posted?.state ?? (body === undefined ? 'not answered' : 'not posted');
  const last = linesSection([[say('  ', 'gutter'), ...quote(state, 'dim')]]);
  if (reading.ok) return [...answerSections(kindOfAnswer(reading), reading), last];
  const heading = [...callHeading('CALL', { id: key }), say(' by ', 'dim'), ...quote(tool_name)];
  return [linesSection([heading, ...(outcome ? outcomeLines(outcome) : [])]), last];
}

/** An `error_event` does not say which kind of failure it was; the report does. */
function sessionAnswer({ outcome, body }: SavedCall, index: number): SavedAnswer[] {
  const reading = readAs('session', body);
  if (!reading.ok) return [];
  const { answer } = reading;
  const isKnown = answer.outcome.type === 'error' && outcome !== null && outcome.type !== 'success';
  return [{ ...reading, answer: isKnown ? { ...answer, outcome } : answer, at: ['calls', index, 'body'] }];
}
