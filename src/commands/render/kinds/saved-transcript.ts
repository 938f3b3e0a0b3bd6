import { ProtocolCliError } from '../../../errors.js';
import { callbackSecrets } from '../../../exchange/callback-secrets.js';
import { outcomeOf } from '../../../exchange/ending.js';
import type { Event } from '../../../exchange/events.js';
import type { Exchange } from '../../../exchange/exchange.js';
import { toldOnce } from '../../../exchange/hop.js';
import { Owners } from '../../../exchange/owners.js';
import { isWhole, missingFrom } from '../../../exchange/transcript-losses.js';
import type { Transcript } from '../../../exchange/transcript-reader.js';
import type { Warning } from '../../../protocol/requirements.js';
import { invokeReport } from '../../../reporters/json.js';
import { warningsOfAll } from '../../../reporters/repeats/warnings.js';
import type { Ending } from '../../../reporters/reporter.js';
import { type Failure, failureOf } from '../../../story/failure.js';
import type { Line } from '../../../story/line.js';
import { panesOf } from '../../../story/panes.js';
import { summaryLines, summaryOf } from '../../../story/repeats/summary.js';
import { callHeading } from '../../../story/saved/call-lines.js';
import { malformedInvocations } from '../../../story/saved/malformed-invocations.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { type Chapter, chronicleOf, timelineOf, toolTimelineOf } from '../../../story/saved/timeline.js';
import { transcriptHeading } from '../../../story/saved/transcript-heading.js';
import { say } from '../../../story/spans.js';
import { viewPane } from '../../../story/view-pane.js';
import { counted, warningsOf } from '../../../story/warnings.js';
import { excerpt } from '../../../text/excerpt.js';
import { linesSection, type Section } from '../sheet.js';
import type { CallSelection, Saved, View } from './kind.js';
import { sessionStoryOf } from './session-story.js';
import { transcriptAnswers } from './transcript-answers.js';

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
    throw new ProtocolCliError('usage', `the transcript has no call ${excerpt(call ?? '')}`, {
      hint: `It has ${exchanges.length} call${exchanges.length === 1 ? '' : 's'}: give a number from 1 or the id of a call.`,
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
