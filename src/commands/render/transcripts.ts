import * as z from 'zod/mini';
import type { DialectName } from '../../dialects/dialect.js';
import { readAs, type Translatable } from '../../dialects/dialects.js';
import type { Drawing } from '../../display/segments.js';
import { answerOf, answerOfMcp, answerOfOurs, answerOfResult } from '../../events/answer.js';
import type { Content } from '../../events/content.js';
import { type Event, toldOnce } from '../../events/events.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { type History, Owners } from '../../events/history.js';
import { readMcpAnswer } from '../../events/mcp-answer.js';
import { callbackSecrets } from '../../events/shareable.js';
import { isWhole, missingFrom, type Transcript } from '../../events/transcript-reader.js';
import { toolResultSchema } from '../../protocol/callbacks/tool-result.js';
import { REQUIREMENTS, type RequirementId, type Warning } from '../../protocol/requirements.js';
import { validate } from '../../protocol/validate.js';
import { type Failure, failureOf } from '../../render/failure.js';
import { type Line, say } from '../../render/line.js';
import { invokeReport } from '../../render/outputs/call-report.js';
import { warningsOfAll } from '../../render/outputs/repeats/warnings.js';
import { reportSchema } from '../../render/outputs/report-schema.js';
import type { Ending } from '../../render/outputs/reporter.js';
import { sessionReport } from '../../render/outputs/session/report.js';
import { viewPane } from '../../render/pane-lines.js';
import { llmPane, type Pane, type Panes, panesOf, panesOfMcp, panesOfResult } from '../../render/panes.js';
import { summaryLines, summaryOf } from '../../render/repeats.js';
import { callHeading, problemLines } from '../../render/saved-answers.js';
import {
  type Chapter,
  chronicleOf,
  malformedInvocations,
  reportLines,
  type SessionTimeline,
  sessionCallLines,
  sessionLines,
  sessionTimelineOf,
  timelineOf,
  toolTimelineOf,
  transcriptHeading,
} from '../../render/saved-timeline.js';
import { givenOf, type KnownCall, knownCalls } from '../../render/session-answers.js';
import { finalLines } from '../../render/session-calls.js';
import { counted, warningsOf } from '../../render/warnings.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt } from '../../util/excerpt.js';
import type { JsonReading } from '../../util/json.js';
import { isRecord } from '../../util/json-diagnosis.js';
import type { Redactor } from '../../util/redact.js';

/** A part of what is shown; nothing of it is laid out before it is asked for. Parts stand one below the other, a blank row between. */
export type Section =
  | { readonly kind: 'lines'; readonly lines: readonly Line[] }
  | { readonly kind: 'drawing'; readonly drawing: Drawing }
  | { readonly kind: 'pane'; readonly pane: Pane }
  | { readonly kind: 'messages'; readonly events: readonly Event[]; readonly redactor: Redactor }
  /** Side by side where there is room. */
  | { readonly kind: 'panes'; readonly human: Pane; readonly llm: Pane };

export const linesSection = (lines: readonly Line[]): Section => ({ kind: 'lines', lines });

/** All that is drawn in it. */
export function drawingsOf(sections: readonly Section[]): Drawing[] {
  return sections.flatMap(drawingsIn);
}

function drawingsIn(section: Section): Drawing[] {
  switch (section.kind) {
    case 'lines':
    case 'messages':
      return [];
    case 'drawing':
      return [section.drawing];
    case 'pane':
      return [section.pane.drawing];
    case 'panes':
      return [section.human.drawing, section.llm.drawing];
  }
}

/** For whom it is shown. */
export interface View {
  readonly supports: ReadonlySet<string>;
  /** Whether it goes to a terminal, which only the user sees. */
  readonly isPrivate: boolean;
}

/** Which calls are shown: the one with this number or id, those without a successful result, or both. */
export interface CallSelection {
  readonly call?: string;
  readonly failed?: boolean;
}

/** What was recognised. */
export interface Saved {
  sections(view: View): readonly Section[];
  /** `-o json`. */
  report(view: View): unknown;
  /** The answers of tools that it holds, in their order; what is a message of the wire asked for, is itself one. */
  answers?(to: DialectName): readonly SavedAnswer[];
  /** Of a transcript, only these of its calls. @throws ProtocolCliError `usage` for an unknown call */
  only?(selection: CallSelection): Saved;
  /** What of it could not be read, each with its place. */
  readonly faults: readonly string[];
  /** What was lost of it, each with its place where there is one; nothing unless told. */
  readonly losses?: readonly string[];
}

/** What can be written for another wire; without an answer, for its own alone. */
export type SavedAnswer = (Translatable | Required<Pick<Translatable, 'dialect' | 'native'>>) & Written;

/** Where its JSON is as it was written; neither where nobody wrote it. */
interface Written {
  /** The path in what was recognised. */
  readonly at?: readonly PropertyKey[];
  /** The JSON itself. */
  readonly source?: string;
}

export type Recognition =
  | { readonly ok: true; readonly saved: Saved }
  /** What it should have been, and each fault with its JSON path. */
  | { readonly ok: false; readonly faults: readonly string[] };

export type SoundJson = Extract<JsonReading, { ok: true }>;

/** One kind of JSON object that can be shown. */
export interface Kind {
  /** With its article, for a person. */
  readonly name: string;
  /** The wire that it was made for. */
  readonly dialect: DialectName;
  /** The keys it is told by, for what nearly is one. */
  readonly keys: readonly string[];
  /** Whether the object is meant to be one, sound or not. */
  isMeant(value: Readonly<Record<string, unknown>>): boolean;
  read(json: SoundJson): Promise<Recognition>;
}

/** The agent sessions of a transcript. */
interface SessionStory {
  /** What happened in them, in order, then each with its calls; nothing where there are none. */
  sections(): Section[];
  /** The object that `session answer -o json` would have printed, for each of them; null where there are none. */
  report(notes: readonly Warning[]): unknown;
  /** Of all of them, session by session, in the order in which they were asked. */
  calls(): KnownCall[];
}

/** @param history of the same events */
function sessionStoryOf(events: readonly Event[], history: History): SessionStory {
  const timeline = sessionTimelineOf(events, history);
  const { sessions, lines } = timeline;
  return {
    calls: () => sessions.list.flatMap(session => knownCalls(session, history)),
    sections: () =>
      lines.length === 0 ? [] : [linesSection(lines), ...sessionSections(timeline, history, events)],
    report(notes) {
      const known = { sessions, history };
      const reports = sessions.list.map(({ id }) =>
        sessionReport({ session: { id, url: urlOf(events, id) }, known, notes, trouble: null }),
      );
      return reports.length > 1 ? { sessions: reports } : (reports[0] ?? null);
    },
  };
}

/** A call of a RAP tool has a chapter of its own, with its panes. */
function sessionSections(
  { sessions }: SessionTimeline,
  history: History,
  events: readonly Event[],
): Section[] {
  const now = events.at(-1)?.at ?? 0;
  const shown = sessions.list.flatMap(session => {
    const calls = knownCalls(session, history);
    return [
      linesSection(sessionLines(session, calls, now)),
      ...calls.filter(({ exchange }) => !exchange).map(each => linesSection(sessionCallLines(each))),
      linesSection(finalLines(session)),
    ];
  });
  const warnings = sessions.warnings.map(message => ({ message }));
  return [...shown, linesSection(problemLines(counted(warnings)))];
}

/** The request; empty without one. */
function urlOf(events: readonly Event[], id: string): string {
  const place = `/sessions/${encodeURIComponent(id)}`;
  for (const event of events) {
    if (event.kind !== 'request' || event.dialect !== 'session') continue;
    const at = event.url.indexOf(place);
    if (at >= 0) return event.url.slice(0, at + place.length);
  }
  return '';
}

/** The answers that a transcript holds: what agent sessions were given for these calls, else the results of the exchanges. */
function transcriptAnswers(
  events: readonly Event[],
  exchanges: readonly Exchange[],
  calls: readonly KnownCall[],
): SavedAnswer[] {
  const settled = calls.flatMap(settledCall);
  return settled.length > 0 ? settled : resultsOf(events, exchanges);
}

/** An `error_event` does not say which kind of failure it was: that is known as the report of the same run knows it. */
function settledCall(known: KnownCall): SavedAnswer[] {
  const body = known.call.answer?.body;
  const reading = body?.json.ok ? readAs('session', body.json.value) : null;
  const given = givenOf(known);
  if (!body || !given || !reading?.ok) return [];
  return [{ ...reading, answer: { ...reading.answer, outcome: given.outcome }, source: textOf(body) }];
}

/** A body is read once, so that its value is known again. */
function resultsOf(events: readonly Event[], exchanges: readonly Exchange[]): SavedAnswer[] {
  const bodies = new Map<unknown, Content>();
  for (const event of events) {
    const body = 'body' in event ? event.body : undefined;
    if (body?.json.ok) bodies.set(body.json.value, body);
  }
  return exchanges.flatMap(exchange => {
    const answer = answerOf(exchange);
    const body = answer?.native === undefined ? undefined : bodies.get(answer.native);
    return answer ? [{ ...answer, ...(body && { source: textOf(body) }) }] : [];
  });
}

const textOf = ({ bytes }: Content) => new TextDecoder().decode(bytes);

/** A transcript as it is shown: what it is, its timeline, then each call with its panes, its views and its problems. */
export function savedTranscript(transcript: Transcript): Saved {
  const events = toldOnce(transcript.events);
  const { whole, chapters } = chronicleOf(events, isWhole(transcript));
  const exchanges = [...whole.exchanges.values()];
  const { faults } = transcript;
  const losses = missingFrom(transcript);
  const malformed = isTool(transcript) ? [] : malformedInvocations(events, transcript);
  const story = sessionStoryOf(events, whole);
  return {
    faults,
    losses,
    only: selection => {
      const keys = new Set(selectedCalls(exchanges, selection));
      const owners = new Owners(whole);
      const isOwn = (event: Event) => owners.of(event).some(key => key !== null && keys.has(key));
      return savedTranscript({ ...transcript, events: events.filter(isOwn) });
    },
    answers: () => transcriptAnswers(events, exchanges, story.calls()),
    sections: view => [
      linesSection(transcriptHeading(transcript, exchanges.length)),
      ...toolStory(transcript),
      ...story.sections(),
      ...chapters.flatMap((chapter, index) =>
        chapterSections(chapter, { view, number: index, of: chapters.length - 1, transcript }),
      ),
      linesSection(exchanges.length > 1 ? summaryLines(summaryOf(exchanges)) : []),
      linesSection(listed('MALFORMED INVOCATIONS', malformed)),
      linesSection(listed('COULD NOT BE READ', faults)),
      linesSection(listed('LOST', losses)),
    ],
    report: ({ supports }) => {
      const notes = [...malformed.map(asInvocation), ...faults, ...losses].map(message => ({ message }));
      const ofSessions = story.report(notes);
      if (ofSessions !== null) return ofSessions;
      const reportOf = (chapter: Chapter) => invokeReport(endingOf(chapter, []), supports);
      const [only, ...calls] = chapters;
      if (only && calls.length === 0) return invokeReport(endingOf(only, notes), supports);
      return {
        calls: calls.map(reportOf),
        summary: summaryOf(exchanges),
        warnings: [...notes, ...warningsOfAll(whole)],
      };
    },
  };
}

/** Keys of calls. */
function selectedCalls(exchanges: readonly Exchange[], { call, failed = false }: CallSelection): string[] {
  const named = exchanges.filter(
    ({ key, invocation }, index) =>
      call === undefined || call === String(index + 1) || call === invocation.id || call === key,
  );
  if (named.length === 0)
    throw new ProtocolCliError('usage', `no call ${excerpt(call ?? '')} in the transcript`, {
      hint: `It has ${exchanges.length} call${exchanges.length === 1 ? '' : 's'}: use a number from 1, or an id.`,
    });
  const selected = failed ? named.filter(each => outcomeOf(each)?.type !== 'success') : named;
  if (selected.length === 0) throw new ProtocolCliError('usage', 'no call of the transcript failed');
  return selected.map(({ key }) => key);
}

/** A tool's view has one timeline for all that it served. */
function toolStory(transcript: Transcript): Section[] {
  return isTool(transcript) ? [linesSection(toolTimelineOf(transcript.events))] : [];
}

/** Its timeline has what is malformed, too. */
function isTool({ header }: Transcript): boolean {
  return header?.observer === 'tool';
}

function asInvocation(malformed: string): string {
  return `malformed invocation, ${malformed}`;
}

interface Place {
  readonly view: View;
  readonly number: number;
  /** How many calls there are beside what belongs to none; 0 where all is one chapter. */
  readonly of: number;
  readonly transcript: Transcript;
}

function chapterSections(chapter: Chapter, { view, number, of, transcript }: Place): Section[] {
  const { history, exchange, events } = chapter;
  const panes = exchange ? panesOf(exchange, view.supports) : null;
  const views = [...history.threads.values()].flatMap(thread => [...thread.views.values()]);
  const { notes, trouble } = endingOf(chapter, [...(panes?.warnings ?? [])]);
  const steps = isTool(transcript) ? [] : timelineOf(chapter);
  return [
    linesSection(of > 0 && exchange ? [chapterHeading(exchange, number, of)] : []),
    linesSection(steps),
    ...(panes ? [{ kind: 'panes', human: panes.human, llm: panes.llm } as const] : []),
    ...views.map(each => ({ kind: 'pane', pane: viewPane(each) }) as const),
    ...(exchange ? [{ kind: 'messages', events, redactor: callbackSecrets(events) } as const] : []),
    linesSection(problemLines(counted([...warningsOf(history, exchange), ...notes]), trouble)),
  ];
}

function chapterHeading({ invocation }: NonNullable<Chapter['exchange']>, number: number, of: number): Line {
  return [say(`CALL ${number} of ${of}  `, 'title'), ...callHeading(invocation.operation, invocation)];
}

function endingOf(
  { history, exchange }: Chapter,
  notes: readonly Warning[],
): Ending & { trouble: Failure | null } {
  const trouble = exchange ? failureOf(exchange, history.errands) : null;
  return { history, exchange, notes, trouble };
}

function listed(title: string, messages: readonly string[]): Line[] {
  return problemLines(
    messages.map(message => ({ message })),
    null,
    title,
  );
}

/** A saved report of a call. */
const savedReportSchema = z
  .extend(reportSchema, { result: z.nullish(z.unknown()) })
  .check(({ value, issues }) => {
    for (const { path, message } of resultIssues(value))
      issues.push({ code: 'custom', input: value.result, path: ['result', ...path], message });
  });

type SavedReport = z.infer<typeof savedReportSchema>;

interface Told {
  readonly dialect?: 'mcp' | undefined;
  readonly result?: unknown;
}

function resultIssues({
  dialect,
  result,
}: Told): { readonly path: PropertyKey[]; readonly message: string }[] {
  if (result === undefined || result === null) return [];
  if (dialect !== 'mcp') return toolResultSchema.safeParse(result).error?.issues ?? [];
  const { reading, text } = mcpAnswerOf(result);
  return reading ? [] : [{ path: [], message: text }];
}

const mcpAnswerOf = (value: unknown) => readMcpAnswer({ ok: true, value, notes: [] });

/** The answer that a report holds, for any wire. @param native its result as it came: it has more than a schema knows */
function answerIn({ dialect, invocation, outcome, result }: SavedReport, native: unknown): Translatable[] {
  if (result && dialect === 'mcp') {
    const { reading } = mcpAnswerOf(native);
    return reading ? [answerOfMcp(invocation, reading)] : [];
  }
  if (result) return [answerOfResult(invocation, native) ?? []].flat();
  return outcome && invocation ? [{ answer: answerOfOurs(invocation, outcome) }] : [];
}

/** What the human saw beside what the LLM got. */
function panesIn({ dialect, result, llm }: SavedReport, supports: ReadonlySet<string>): Section[] {
  if (isRecord(result)) return [{ kind: 'panes', ...panesOfNative(dialect, result, supports) }];
  return llm ? [{ kind: 'pane', pane: llmPane(llm.text, false) }] : [];
}

function panesOfNative(dialect: 'mcp' | undefined, result: unknown, supports: ReadonlySet<string>): Panes {
  if (dialect === 'mcp') return panesOfMcp(mcpAnswerOf(result));
  const checked = validate(toolResultSchema, result);
  if (!checked.ok) throw new Error('the schema of a saved report has seen its result');
  return panesOfResult(checked.value, supports);
}

const warningsSchema = reportSchema.shape.warnings;
/** What `--repeat` prints; its summary is not drawn, since each call is. */
const repeatsSchema = z.object({ calls: z.array(savedReportSchema), warnings: warningsSchema });

/** The object that `invoke -o json` prints at its end. */
export const reportKind: Kind = {
  name: 'a report (invoke -o json)',
  dialect: 'rap',
  keys: ['invocation', 'endpoint', 'acknowledgement', 'outcome', 'result', 'llm', 'display', 'callbacks'],
  isMeant: ({ invocation, warnings, error }) =>
    isRecord(invocation) || (Array.isArray(warnings) && isRecord(error)),
  async read({ value }) {
    const checked = validate(savedReportSchema, value);
    if (!checked.ok) return checked;
    const sections = (view: View) => callSections(checked.value, view);
    const answers = () => answersIn([{ native: value, at: [] }], [checked.value]);
    return { ok: true, saved: { sections, report: () => value, answers, faults: [] } };
  },
};

/** The same with `--repeat`. */
export const repeatsKind: Kind = {
  name: 'a report of many calls (invoke --repeat -o json)',
  dialect: 'rap',
  keys: ['calls', 'summary'],
  isMeant: ({ calls, warnings }) => Array.isArray(calls) && Array.isArray(warnings),
  async read({ value }) {
    const checked = validate(repeatsSchema, value);
    if (!checked.ok) return checked;
    const { calls, warnings } = checked.value;
    const sections = (view: View) => [
      ...calls.flatMap((call, index) => [
        linesSection([[say(`CALL ${index + 1} of ${calls.length}`, 'title')]]),
        ...callSections(call, view),
      ]),
      linesSection(problemLines(warnings.map(known))),
    ];
    const natives = isRecord(value) && Array.isArray(value['calls']) ? value['calls'] : [];
    const answers = () =>
      answersIn(
        natives.map((native, index) => ({ native, at: ['calls', index] })),
        calls,
      );
    return { ok: true, saved: { sections, report: () => value, answers, faults: [] } };
  },
};

interface ReportPlace {
  /** The report as it came: a result has more than a schema knows. */
  readonly native: unknown;
  readonly at: readonly PropertyKey[];
}

function answersIn(places: readonly ReportPlace[], reports: readonly SavedReport[]): SavedAnswer[] {
  return reports.flatMap((report, index) => {
    const { native, at = [] } = places[index] ?? {};
    const answers = answerIn(report, isRecord(native) ? native['result'] : report.result);
    return answers.map(answer => (answer.dialect ? { ...answer, at: [...at, 'result'] } : answer));
  });
}

function callSections(report: SavedReport, { supports }: View): Section[] {
  const { invocation, views = [], error, warnings } = report;
  return [
    linesSection(invocation ? [callHeading(invocation.operation, invocation)] : []),
    linesSection(reportLines(report)),
    ...panesIn(report, supports),
    ...views.map((view): Section => ({ kind: 'pane', pane: viewPane(view) })),
    linesSection(problemLines(warnings.map(known), error ?? null)),
  ];
}

/** An id that is not known here is part of what is said. */
export function known({ id, message }: SavedReport['warnings'][number]): Warning {
  if (id === undefined) return { message };
  return isRequirement(id) ? { id, message } : { message: `${message} [${id}]` };
}

function isRequirement(id: string): id is RequirementId {
  return Object.hasOwn(REQUIREMENTS, id);
}
