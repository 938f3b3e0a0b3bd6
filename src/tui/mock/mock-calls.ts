import { RecentCalls } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import type { ToolCall } from '../../events/tool-call.js';
import { type Line, line, lineText, pluralize, quote, say } from '../../render/line.js';
import { cutLine } from '../../render/terminal/fit.js';
import { callName, toolCallRow } from '../../render/tool-calls.js';
import { newsOf } from '../../render/tool-news.js';
import { CALL_TABS, callSheets, recentSheets } from '../calls/tabs.js';
import { CALL_COLUMNS } from '../layout.js';
import { tableOf, WITH_PANES } from '../list/list.js';
import type { LiveListSource } from '../live-list/live-list.js';
import type { Sheet } from '../reading/parts.js';
import { ReceivedCall, type RecentCall } from './received-call.js';

export const MOCK_TABS = [{ name: 'call', title: 'Call' }, ...CALL_TABS] as const;

export type MockTab = (typeof MOCK_TABS)[number]['name'];

const TABLE = {
  columns: [
    CALL_COLUMNS.time,
    CALL_COLUMNS.operation,
    CALL_COLUMNS.args,
    CALL_COLUMNS.id,
    CALL_COLUMNS.thread,
    { name: 'answeredBy', title: 'ANSWERED BY', max: 22 },
  ],
  dispensable: ['thread', 'id', 'args', 'answeredBy', 'time', 'args'],
} as const;

/** Maximum width of the name: a longer one would leave no room for the URL. */
const MAX_NAME = 16;

export const MISSING = 'The selected call is no longer remembered: ↑ and ↓ select another, G the newest.';

export interface ShownMock {
  readonly tool: Readonly<Record<'name' | 'url' | 'seed', string>> & { readonly fixtures: number };
  /** The supported types of display segments (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly isPaused: () => boolean;
}

/** The calls that a mock received: a table with the latest ones, and their sheets. */
export function mockCalls(
  { tool, supports, isPaused }: ShownMock,
  now: () => number,
  onChange: () => void,
): LiveListSource<ToolCall, MockTab> {
  const calls = new RecentCalls();
  const sheets = recentSheets<MockTab>();
  const counts = countCalls();
  /** Reset to null by each event. */
  let keys: readonly string[] | null = null;
  const sheetsOf = (recent: RecentCall): Record<MockTab, () => Sheet> => {
    const callNow = () => calls.get(recent.call.key)?.call ?? recent.call;
    const call = new ReceivedCall(recent, callNow, supports);
    return { call: () => call.details, ...callSheets(call, onChange) };
  };
  return {
    list: {
      title: 'Calls',
      tabs: MOCK_TABS,
      ...WITH_PANES,
      entries() {
        keys ??= calls.keys;
        return { keys, get: key => calls.get(key)?.call };
      },
      missing: MISSING,
      titleOf: ({ invocation, addressee }) => `${invocation?.operation ?? 'a call'} ${addressee?.id ?? ''}`,
      textOf: ({ invocation, addressee, answeredBy, deliveries }) => [
        invocation?.operation,
        invocation?.arguments,
        addressee?.id,
        addressee?.group_id,
        answeredBy,
        ...deliveries.map(({ body }) => body?.text),
      ],
      ...tableOf(
        () => TABLE,
        (call: ToolCall, isSelected) => toolCallRow(call, now(), isSelected),
      ),
      sheetOf({ key }, tab) {
        const recent = calls.get(key);
        return recent ? sheets.of(recent.events, () => sheetsOf(recent))[tab]() : [];
      },
      empty: () => [
        line`No calls yet.`,
        [say('Give a runtime this URL, or try it from another terminal, by hand:', 'dim')],
        [say('  protocol-cli invoke -i ', 'dim'), say(tool.url, 'running')],
      ],
    },
    apply(event) {
      calls.apply(event);
      counts.apply(event);
      keys = null;
      return event.calls?.length ? null : newsOf(event, {});
    },
    // A small screen hides the list while the details have the focus, so the head names the call.
    head(_columns, _isRoomy, reading) {
      const paused = isPaused() && [say('‖ deliveries are held back', 'warn'), say(' · ', 'dim')];
      const about = [
        say(` · ${pluralize(tool.fixtures, 'fixture')} · seed `, 'dim'),
        ...quote(tool.seed, 'dim'),
      ];
      const name = cutLine(quote(tool.name, 'title'), MAX_NAME);
      return [
        line`${name}  ${say(tool.url, 'running')}${reading && line`  ${callName(reading)}`}`,
        line`${paused}${counts.line()}${about}`,
      ];
    },
    summary: () => lineText(counts.line()),
  };
}

/** Counts all calls so far, including those that are no longer remembered. */
function countCalls() {
  const counts = { calls: 0, unmatched: 0, undelivered: 0 };
  const found = (count: number, what: string, tone: 'warn' | 'bad') =>
    count > 0 && line`${say(' · ', 'dim')}${say(`${count} ${what}`, tone)}`;
  return {
    apply(event: Event) {
      if (event.kind === 'request' && event.purpose === 'invocation' && event.attempt === 1) counts.calls++;
      if (event.kind === 'matched' && event.fixture === null) counts.unmatched++;
      if (event.kind === 'dropped' && event.what === 'callback') counts.undelivered += event.count;
    },
    /** `12 calls · 1 unmatched · 2 undelivered` */
    line(): Line {
      const { calls, unmatched, undelivered } = counts;
      const [odd, lost] = [found(unmatched, 'unmatched', 'warn'), found(undelivered, 'undelivered', 'bad')];
      return line`${say(pluralize(calls, 'call'), 'dim')}${odd}${lost}`;
    },
  };
}
