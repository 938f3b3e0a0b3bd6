import { CallLog } from '../../events/call-log.js';
import type { Event } from '../../events/events.js';
import { openPages } from '../../events/exchange.js';
import { statusOf } from '../../events/session-calls.js';
import type { OAuth } from '../../protocol/callbacks.js';
import { isSettledStatus } from '../../protocol/session.js';
import { clipped, type Line, line, lineText, quote, redactLine, say } from '../../render/line.js';
import type { AnsweredSession, KnownSession } from '../../render/outputs/session.js';
import { llmPane } from '../../render/panes.js';
import {
  callLine,
  type KnownCall,
  knownCalls,
  receivedAnswer,
  sessionCallRow,
  sessionHead,
} from '../../render/session-calls.js';
import { cutLine } from '../../render/terminal/fit.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import { newsOf } from '../../render/tool-news.js';
import { memoizeByObject } from '../../util/collections.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { CALL_TABS, callSheets, recentSheets } from '../calls/tabs.js';
import { tableOf, WITH_PANES } from '../list/list.js';
import type { LiveListSource } from '../live-list/live-list.js';
import { onePart, panePart, partRedactor, type Sheet } from '../reading/parts.js';
import { MadeCall } from '../workbench/made-call.js';
import { CALL_TAB, CALL_TEXTS, CALLS_OF_ONE, callDetails } from './session-calls.js';

const TABS = [CALL_TAB, ...CALL_TABS] as const;

export type AnswerTab = (typeof TABS)[number]['name'];

export interface ShownSession {
  readonly session: AnsweredSession;
  /** Has each event before the screen gets it. */
  readonly known: KnownSession;
  /** A RAP tool answers the calls: each one has an invocation with messages. */
  readonly hasTool: boolean;
  /** Calls are sent even if their arguments do not match the `inputSchema`. */
  readonly isUnvalidated: boolean;
  /** The supported types of display segments (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  /** Removes secrets from everything except questions to the user (threats, row 25). */
  readonly redactor: Redactor;
}

const ANSWER = [say('ANSWER', 'title')];

const NO_INVOCATION = onePart(
  [say('NO INVOCATION', 'title')],
  [[say('no tool was called for this call', 'dim')]],
);

export function answerTabs(
  hasTool: boolean,
): readonly { readonly name: AnswerTab; readonly title: string }[] {
  return hasTool ? TABS : TABS.filter(({ name }) => name === 'call' || name === 'result');
}

/** The calls of a session, with the latest state of the session. */
export function callsOfSession({ session, known }: Pick<ShownSession, 'session' | 'known'>): KnownCall[] {
  const found = known.sessions.get(session.id);
  return found ? knownCalls(found, known.history) : [];
}

/** The page that a call asks the user to open, if it does. */
export function pageOf({ exchange }: KnownCall): OAuth | undefined {
  return exchange && openPages(exchange)[0];
}

/** Who asks the user. */
export function askerLine({ call }: KnownCall): Line {
  return [say('? ', 'warn'), ...callLine(call), say(' asks')];
}

/** The state of a session, below its id and its platform. */
export function sessionLines({ session: { id, url }, known }: ShownSession, now: number): readonly Line[] {
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  const found = known.sessions.get(id);
  return [
    [say('session '), ...clipped(id, 'title'), say('  '), ...clipped(origin, 'running')],
    found
      ? sessionHead(found, now)
      : [say('… asking the platform', 'running'), say(` ${formatDuration(now)}`, 'dim')],
  ];
}

/** The calls of a session that this program answers: a table, oldest first, and their sheets. */
export function answeredCalls(
  shown: ShownSession,
  now: () => number,
  onChange: () => void,
): LiveListSource<KnownCall, AnswerTab> {
  const { known, redactor, hasTool } = shown;
  const clean = (lines: readonly Line[]) => lines.map(each => redactLine(each, redactor.text));
  const cleanParts = partRedactor(redactor.text);
  const detailsOf = callDetails();
  const messages = toolMessages(shown, onChange);
  const answerPart = memoizeByObject((text: { readonly text: string | null }) =>
    panePart(llmPane(text.text ?? '', true)),
  );
  const resultOf = (call: KnownCall): Sheet => {
    const received = receivedAnswer(call);
    if (received) return [answerPart(received)];
    return onePart(ANSWER, [[say('none yet', 'dim')]]);
  };
  const sheetOf = (call: KnownCall, tab: AnswerTab): Sheet => {
    if (tab === 'call') return detailsOf(call, now());
    const sheets = messages.sheetsOf(call);
    if (sheets) return sheets[tab]();
    return tab === 'result' ? resultOf(call) : NO_INVOCATION;
  };
  /** Reset to null by each event. */
  let calls: ReadonlyMap<string, KnownCall> | null = null;
  const entries = () => {
    calls ??= new Map(callsOfSession(shown).map(each => [each.call.key, each]));
    const [...keys] = calls.keys();
    const asking = [...calls.values()].findIndex(({ exchange }) => exchange?.waitingFor);
    const get = (key: string) => calls?.get(key);
    return { keys, get, preselected: asking < 0 ? keys.length - 1 : asking };
  };
  const isOver = () => isSettledStatus(statusOfSession(shown) ?? '');
  return {
    list: {
      title: 'Calls',
      tabs: answerTabs(hasTool),
      ...WITH_PANES,
      entries,
      titleOf: call => redactor.text(CALL_TEXTS.titleOf(call)),
      textOf: CALL_TEXTS.textOf,
      ...tableOf(
        () => CALLS_OF_ONE,
        (call: KnownCall, isSelected) => answeredRow(call, now(), redactor, isSelected),
      ),
      sheetOf: (call, tab) => sheetOf(call, tab).map(cleanParts),
      empty: () => [line`No calls yet.`],
    },
    apply(event) {
      calls = null;
      messages.apply(event);
      if (['session', 'awaiting', 'answered'].includes(event.kind)) return null; // the head and the rows show it
      const news = newsOf(event, known);
      return news && redactLine(news, redactor.text);
    },
    head(columns, isRoomy, reading) {
      const asking = callsOfSession(shown).find(pageOf);
      const [first = [], ...others] = sessionLines(shown, now());
      const head = clean([line`${first}${reading && line`  ${callLine(reading.call)}`}`, ...others]);
      if (!asking) return head;
      const page = pageLines(asking, columns, isRoomy);
      return isRoomy ? [...head, ...page] : page;
    },
    summary: () => lineText(sessionLines(shown, now())[1] ?? []),
    isRunning: () => !isOver(),
  };
}

function statusOfSession({ session, known }: ShownSession): string | null {
  const found = known.sessions.get(session.id);
  return found ? statusOf(found) : null;
}

export function answeredRow(call: KnownCall, now: number, { text }: Redactor, isSelected = false) {
  const row = sessionCallRow(call, now, isSelected);
  const { time, session, tool, args, id, state } = row.cells;
  const clean = (cell: Line) => redactLine(cell, text);
  const cells = { time, session, tool: clean(tool), args: clean(args), id: clean(id), state: clean(state) };
  return { ...row, cells };
}

/** The page that a tool asks the user to open, with its whole URL (RT-OAUTH). */
function pageLines(call: KnownCall, columns: number, isRoomy: boolean): readonly Line[] {
  const asker = askerLine(call);
  const url = quote(pageOf(call)?.auth_url ?? '', 'title');
  const lines = isRoomy ? [asker, [say('visit this URL to continue:')], url] : [cutLine(asker, columns), url];
  return lines.flatMap(each => wrapRows(each, columns));
}

/** The messages of the calls to a RAP tool, without the requests that only ask the platform for news. */
function toolMessages({ hasTool, redactor, supports, isUnvalidated }: ShownSession, onChange: () => void) {
  const callLog = new CallLog({ redact: redactor.text });
  const polls = new Set<string>();
  const recent = recentSheets<(typeof CALL_TABS)[number]['name']>();
  const isOfCalls = (event: Event) => {
    if (event.kind === 'session' || event.kind === 'awaiting') return false;
    if (event.kind !== 'request')
      return !('leg' in event && event.leg !== undefined && polls.delete(event.leg));
    const isPoll = event.dialect === 'session' && event.purpose !== 'tool_results';
    if (isPoll) polls.add(event.leg);
    return !isPoll;
  };
  return {
    apply(event: Event): void {
      if (hasTool && isOfCalls(event)) callLog.apply(event);
    },
    /** Null for a call without an invocation. */
    sheetsOf({ call: { key }, exchange }: KnownCall) {
      if (!exchange || !hasTool) return null;
      return recent.of(callLog.of(key), () =>
        callSheets(
          new MadeCall({ callLog, redactor }, key, supports, { isUnvalidated: () => isUnvalidated }),
          onChange,
        ),
      );
    },
  };
}
