import * as z from 'zod/mini';
import type { Reading, SoundReading } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { urlSecrets } from '../../events/shareable.js';
import { CALLBACK_TYPES, type Callback, readCallback } from '../../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import type { Warning } from '../../protocol/requirements.js';
import { type Changes, changesSchema } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { quote, say } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { sessionReportSchema } from '../../render/outputs/session-schema.js';
import { viewPane } from '../../render/pane-lines.js';
import { llmPane, type Panes, panesOfResult } from '../../render/panes.js';
import {
  answerLines,
  besideLines,
  callHeading,
  changesLines,
  isCleared,
  messageLines,
  outcomeLines,
  pendingIn,
  problemLines,
} from '../../render/saved-answers.js';
import { finalLines } from '../../render/session-calls.js';
import { textWarnings } from '../../render/warnings.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { bareUrl } from '../../util/redact.js';
import {
  type Kind,
  known,
  linesSection,
  type Saved,
  type SavedAnswer,
  type Section,
  type View,
} from './transcripts.js';

/** Shows a single answer. @param kind what `-o json` calls it @param panes where the wire has its own */
export function savedAnswer(kind: string, reading: SoundReading, panes?: Section): Saved {
  return {
    sections: () => [
      ...answerSections(kind, reading, panes),
      linesSection(problemLines(warningsOf(reading))),
    ],
    report: () => ({
      kind,
      message: reading.native,
      ...answerReport(reading),
      warnings: warningsOf(reading),
    }),
    answers: () => [{ ...reading, at: [] }],
    faults: [],
  };
}

/** What it says: how the call ended, what the model gets, what stands beside. */
function answerSections(
  kind: string,
  reading: SoundReading,
  panes: Section = { kind: 'pane', pane: llmPane(reading.text, true) },
): Section[] {
  return [linesSection(answerLines(kind, reading)), panes, linesSection(besideLines(reading))];
}

function answerReport({ answer, text }: SoundReading): object {
  return { outcome: answer.outcome, llm: { text } };
}

/** With what is odd about the JSON it was read from. */
export function noted(reading: SoundReading, notes: readonly string[]): SoundReading {
  return { ...reading, notes: [...notes, ...reading.notes] };
}

function warningsOf({ notes, text }: SoundReading) {
  return [...notes.map(message => ({ message })), ...textWarnings(text)];
}

/** One settled call, as it is posted to an agent session. */
export const settledCallKind: Kind = {
  name: 'a settled call of an agent session (tool_result, error_event)',
  dialect: 'session',
  keys: ['kind', 'tool_req', 'result', 'error', 'origin'],
  isMeant: value => 'kind' in value && 'tool_req' in value,
  async read({ value, notes }) {
    const reading = readAs('session', value);
    return reading.ok ? { ok: true, saved: savedAnswer(nameOf(reading), noted(reading, notes)) } : reading;
  },
};

const batchSchema = z.object({ type: z.literal('batch'), results: z.array(z.unknown()) });

/** Several of them in one body. */
export const batchKind: Kind = {
  name: 'a batch of settled calls of an agent session',
  dialect: 'session',
  keys: ['type', 'results'],
  isMeant: ({ type }) => type === 'batch',
  async read({ value, notes }) {
    const checked = validate(batchSchema, value);
    if (!checked.ok) return checked;
    const readings = checked.value.results.map(result => readAs('session', result));
    const faults = readings.flatMap(faultsAt);
    return faults.length > 0
      ? { ok: false, faults }
      : { ok: true, saved: savedBatch(value, readings.flatMap(soundOf), notes) };
  },
};

function savedBatch(native: unknown, readings: readonly SoundReading[], notes: readonly string[]): Saved {
  const warnings = [...notes.map(message => ({ message })), ...readings.flatMap(warningsOf)];
  return {
    sections: () => [
      ...readings.flatMap((reading, index) => [
        linesSection([[say(`CALL ${index + 1} of ${readings.length}`, 'title')]]),
        ...answerSections(nameOf(reading), reading),
      ]),
      linesSection(readings.length === 0 ? [[say('a batch without any call')]] : []),
      linesSection(problemLines(warnings)),
    ],
    report: () => ({
      kind: 'batch',
      results: readings.map(reading => ({ message: reading.native, ...answerReport(reading) })),
      warnings,
    }),
    answers: to =>
      to === 'session'
        ? [{ dialect: to, native, at: [] }]
        : readings.map((reading, index) => ({ ...reading, at: ['results', index] })),
    faults: [],
  };
}

/** An outcome that is not known here has the name that it came with. */
function nameOf({ answer: { outcome } }: SoundReading): string {
  if (outcome.type === 'unknown') return String(outcome.raw);
  return outcome.type === 'success' ? 'tool_result' : 'error_event';
}

function faultsAt(reading: Reading, index: number): string[] {
  return reading.ok ? [] : reading.faults.map(fault => fault.replace(/^\$/, `$.results[${index}]`));
}

const soundOf = (reading: Reading): SoundReading[] => (reading.ok ? [reading] : []);

/** What an agent session says when it is asked what is new. */
export const changesKind: Kind = {
  name: 'changes of an agent session',
  dialect: 'session',
  keys: ['status', 'started_at', 'finished_at', 'error', 'answer', 'metrics', 'new_events'],
  isMeant: ({ status, ...rest }) =>
    typeof status === 'string' && ('new_events' in rest || 'started_at' in rest || 'finished_at' in rest),
  async read({ value }) {
    const checked = validate(changesSchema, value);
    return checked.ok ? { ok: true, saved: savedChanges(checked.value, value) } : checked;
  },
};

function savedChanges(changes: Changes, native: unknown): Saved {
  return {
    sections: () => changesLines(changes).map(linesSection),
    report: () => ({ kind: 'changes', message: native, pending: pendingIn(changes), warnings: [] }),
    faults: [],
  };
}

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

/** A message that a tool POSTed to a callback URL. */
export const callbackKind: Kind = {
  name: `a callback (${CALLBACK_TYPES.join(', ')})`,
  dialect: 'rap',
  keys: ['type', 'group_id', 'id', 'call_id', 'text', 'content', 'display_as', 'tool_call_id', 'auth_url'],
  isMeant: ({ type }) => CALLBACK_TYPES.some(each => each === type),
  async read(json) {
    const reading = readCallback(json);
    if (!reading.ok) return reading;
    const { message, native, warnings } = reading;
    return { ok: true, saved: new SavedCallback(message, native, warnings) };
  },
};

class SavedCallback implements Saved {
  readonly faults = [];

  constructor(
    private readonly message: Callback,
    private readonly native: unknown,
    private readonly warnings: readonly Warning[],
  ) {}

  sections({ supports, isPrivate }: View): Section[] {
    return [
      linesSection(messageLines(this.message, isPrivate)),
      ...this.#panes(supports),
      linesSection(problemLines(this.#allWarnings(supports))),
    ];
  }

  report({ supports }: View): object {
    const { message } = this;
    return {
      kind: message.type,
      message: shareable(message, this.native),
      ...(message.type === 'tool_result' && resultReport(message, supports)),
      warnings: this.#allWarnings(supports),
    };
  }

  answers(): readonly SavedAnswer[] {
    const reading = readAs('rap', this.native);
    return this.message.type === 'tool_result' && reading.ok ? [{ ...reading, at: [] }] : [];
  }

  #panes(supports: ReadonlySet<string>): Section[] {
    const { message } = this;
    switch (message.type) {
      case 'tool_result':
        return [{ kind: 'panes', ...panesOfResult(message, supports) }];
      case 'subscription_event':
        return [{ kind: 'pane', pane: llmPane(message.text, true) }];
      case 'view_update': {
        const { view_type: type, content } = message;
        return isCleared(content) ? [] : [{ kind: 'pane', pane: viewPane({ type, content, updates: 1 }) }];
      }
      default:
        return [];
    }
  }

  #allWarnings(supports: ReadonlySet<string>): Warning[] {
    const { message } = this;
    const isResult = message.type === 'tool_result';
    const text = isResult ? llmText(message) : message.type === 'subscription_event' ? message.text : '';
    const ofPanes = isResult ? panesOfResult(message, supports).warnings : [];
    return [...this.warnings, ...ofPanes, ...textWarnings(text)];
  }
}

type ToolResult = Extract<Callback, { type: 'tool_result' }>;

function resultReport(message: ToolResult, supports: ReadonlySet<string>): object {
  const text = llmText(message);
  const panes: Panes = panesOfResult(message, supports);
  return { outcome: outcomeOfText(text), llm: { text }, display: displayReport(panes) };
}

/** What is stored elsewhere from here on: without what gives power over a conversation (threats, row 25). */
function shareable(message: Callback, native: unknown): unknown {
  if (!isRecord(native)) return native;
  if (message.type === 'oauth') return { ...native, auth_url: bareUrl(message.auth_url) };
  if (message.type !== 'user_choice') return native;
  const secrets = urlSecrets([message.response_url], [message.id, message.group_id]);
  return { ...native, response_url: secrets.text(message.response_url) };
}
