import { RoundTrips } from '../../events/round-trips.js';
import type { View } from '../../events/threads.js';
import { type Line, pluralize, quote, say } from '../../render/line.js';
import { viewPane } from '../../render/panes.js';
import type { ProblemLines } from '../../render/problems-tab.js';
import type { Step } from '../../render/step.js';
import { type TimelineEntry, timelineLines } from '../../render/wire.js';
import { Memo, memoizeByObject, RecentMap } from '../../util/collections.js';
import type { Redactor } from '../../util/redact.js';
import { type Document, linesDocument } from '../reading/document.js';
import { joinedDocument } from '../reading/joined-document.js';
import { onePart, type Part, panePart, type Sheet } from '../reading/parts.js';
import { roundTripDocuments } from '../reading/round-trips.js';

/** The tabs of any call, from either side. */
export const CALL_TABS = [
  { name: 'result', title: 'Human / LLM' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'wire', title: 'Wire' },
  { name: 'views', title: 'Views' },
  { name: 'problems', title: 'Problems' },
] as const;

/** The tabs of a call that this program made. */
export const MADE_CALL_TABS = [...CALL_TABS, { name: 'compare', title: 'Compare' }] as const;

export const TOOL_TABS = [
  { name: 'about', title: 'About' },
  { name: 'logs', title: 'Logs' },
] as const;

export type MadeCallTab = (typeof MADE_CALL_TABS)[number]['name'];

export type ToolTab = (typeof TOOL_TABS)[number]['name'];

/** What the tabs show of a call. */
export interface ShownCall {
  /** Events of the call, oldest first; later ones are only appended. `forgotten` is the number of those left out. */
  readonly entries: readonly TimelineEntry[];
  readonly forgotten: number;
  readonly running: readonly Step[];
  /** The events whose requests Wire shows, if they are not those of the timeline. */
  readonly wire?: readonly TimelineEntry[];
  readonly redactor: Redactor;
  readonly result: Sheet;
  readonly views: Iterable<View>;
  /** Shown without views. */
  readonly emptyViewsText: string;
  /** `of the tool, `, if only one side is checked. */
  readonly checkedSide: string;
  /** Changes when the call has to be checked again. */
  readonly revision: number;
  judge(): Promise<ProblemLines>;
}

/** The sheets of the latest calls, each with an object that identifies its call: users go back and forth between a few. */
export function recentSheets<Tab extends string>() {
  return new RecentMap<object, Record<Tab, () => Sheet>>(4);
}

/** Creates the sheets of a call by tab. Large contents are laid out once. */
export function callSheets(
  call: ShownCall,
  onChange: () => void,
): Record<(typeof CALL_TABS)[number]['name'], () => Sheet> {
  return {
    result: () => call.result,
    timeline: timelineOf(call),
    wire: wireOf(call),
    views: viewsOf(call),
    problems: problemsOf(call, onChange),
  };
}

const CHECKING: ProblemLines = () => [[say('checking …', 'running')]];

/**
 * The violated requirements, with evidence. Drawing the sheet has the effect that the call is checked, if it has changed since the last
 * check; one check runs at a time, and the previous sheet stays until it ends.
 */
function problemsOf(call: ShownCall, onChange: () => void): () => Sheet {
  const documents = new Memo<Document>();
  let linesOf = CHECKING;
  let checkedRevision = -1;
  let isChecking = false;
  const failed = (error: unknown): ProblemLines => {
    const why = call.redactor.text(error instanceof Error ? error.message : String(error));
    return () => [[say('✗ ', 'bad'), say('could not check this call: '), ...quote(why)]];
  };
  const check = async () => {
    if (isChecking || checkedRevision === call.revision) return;
    isChecking = true;
    checkedRevision = call.revision;
    linesOf = await call.judge().catch(failed);
    isChecking = false;
    onChange();
  };
  const document: Part['document'] = ({ isUnfolded }) =>
    documents.of([linesOf, isUnfolded], () => ({
      ...linesDocument(linesOf(isUnfolded)),
      isFoldable: () => true,
    }));
  const about = say(` ${call.checkedSide}by the requirements of the protocol`, 'dim');
  const sheet = [{ title: [say('PROBLEMS', 'title'), about], document, onDrawn: () => void check() }];
  return () => sheet;
}

/** Every event of the call with its time, and the steps that it completed; optionally the raw message below its event. */
function timelineOf(call: ShownCall): () => Sheet {
  const bare = growingTimeline(call, false);
  const withBytes = growingTimeline(call, true);
  return () => {
    const { entries, forgotten } = call;
    const gone = forgotten > 0 ? `, ${forgotten} more forgotten` : '';
    const title = [say('TIMELINE', 'title'), say(` ${pluralize(entries.length, 'event')}${gone}`, 'dim')];
    return [{ title, document: ({ showsBytes }) => (showsBytes ? withBytes() : bare()), isStream: true }];
  };
}

function growingTimeline(call: ShownCall, showsBytes: boolean): () => Document {
  const documents = new Memo<Document>();
  const lines: Line[] = [];
  let count = 0;
  return () => {
    const { entries, running, redactor } = call;
    const begunAt = entries[0]?.event.at ?? 0;
    for (const each of entries.slice(count))
      lines.push(...timelineLines([each], [], begunAt, redactor, showsBytes));
    count = entries.length;
    return documents.of([count], () =>
      linesDocument([...lines, ...timelineLines([], running, begunAt, redactor)]),
    );
  };
}

/** The current views, each as a part (RT-VIEW). */
function viewsOf(call: ShownCall): () => Sheet {
  const partOf = memoizeByObject((view: View) => panePart(viewPane(view)));
  const empty = onePart([say('VIEWS', 'title')], [[say(call.emptyViewsText, 'dim')]]);
  return () => {
    const parts = Array.from(call.views, partOf);
    return parts.length > 0 ? parts : empty;
  };
}

const NOTHING_SENT = linesDocument([[say('nothing was sent', 'dim')]]);

/** Each request with its response. */
function wireOf(call: ShownCall): () => Sheet {
  const sheets = new Memo<Sheet>();
  const draw = memoizeByObject(roundTripDocuments(call.redactor));
  const trips = new RoundTrips();
  let seen = 0;
  return () => {
    const entries = call.wire ?? call.entries;
    return sheets.of([entries.length], () => {
      for (const { event } of entries.slice(seen)) trips.add(event);
      seen = entries.length;
      const about = say(` ${pluralize(trips.size, 'request')}, secrets redacted`, 'dim');
      const document = trips.size === 0 ? NOTHING_SENT : joinedDocument(Array.from(trips.list, draw));
      return [{ title: [say('WIRE', 'title'), about], document: () => document }];
    });
  };
}
