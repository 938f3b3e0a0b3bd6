import { Box } from 'ink';
import { useContext } from 'react';
import { quote, say } from '../../render/line.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import {
  isEmpty,
  isReading,
  type ListAreas,
  type Listed,
  listAreas,
  positionText,
  selectedEntry,
  selectedIndex,
  selectedSheet,
} from '../list/list.js';
import type { Size } from '../tty.js';
import { useTick } from '../use-tick.js';
import { Lines, PaletteContext } from './Line.js';
import { Panel } from './Panel.js';
import { Sheet, type SheetProps } from './Reader.js';
import { Table } from './Table.js';
import { Tabs } from './Tabs.js';

interface ListDetailProps<Entry, Tab extends string> {
  readonly listed: Listed<Entry, Tab>;
  /** Without the upper edge. */
  readonly size: Size;
  /** The titles are in an upper edge. */
  readonly hasEdge: boolean;
  /** A growing part was drawn at its end. */
  readonly onSeen: SheetProps['onSeen'];
}

/** A list and the details of its selected entry, side by side or stacked. */
export function ListDetail<Entry, Tab extends string>(props: ListDetailProps<Entry, Tab>) {
  const { listed, size, hasEdge, onSeen } = props;
  const { isBeside, list, details } = listAreas(listed, size);
  const isBelow = !isBeside && list.rows > 0;
  const title = quote(`${listed.list.title}${positionText(listed)}`, 'title');
  return (
    <Box flexGrow={1} flexDirection={isBeside ? 'row' : 'column'}>
      {list.rows > 0 && (
        // Its upper edge goes on to the line beside it.
        <Panel
          title={hasEdge ? title : null}
          columns={list.columns}
          {...(isBeside && { width: list.columns + 1 })}
        >
          <Rows listed={listed} size={list} />
        </Panel>
      )}
      {details.rows > 0 && (
        <Panel
          title={hasEdge || isBelow ? titleOf(listed) : null}
          columns={details.columns}
          isBeside={isBeside}
          flexGrow={1}
        >
          <Details listed={listed} size={size} details={details} onSeen={onSeen} />
        </Panel>
      )}
    </Box>
  );
}

function titleOf<Entry, Tab extends string>(listed: Listed<Entry, Tab>) {
  const entry = selectedEntry(listed);
  return entry === undefined ? [] : quote(listed.list.titleOf(entry), 'title');
}

/** The rows around the selected one, which is in the middle except at both ends. */
function Rows<Entry, Tab extends string>({ listed, size }: { listed: Listed<Entry, Tab>; size: Size }) {
  const { list, state } = listed;
  const { keys, get } = list.entries();
  const height = Math.max(1, size.rows - (list.hasHead ? 1 : 0));
  const index = selectedIndex(listed);
  const from = Math.max(0, Math.min(keys.length - height, index - Math.floor(height / 2)));
  const entries = keys.slice(from, from + height).map(key => get(key) as Entry);
  const { head, rows, isRunning } = list.table(entries, index - from, size.columns);
  useTick(isRunning);
  if (isEmpty(list)) return <EmptyList lines={list.empty(size.columns)} columns={size.columns} />;
  return <Table head={head} rows={rows} focused={isReading(state) ? null : index - from} size={size} />;
}

function EmptyList({ lines, columns }: { lines: Parameters<typeof Lines>[0]['lines']; columns: number }) {
  return <Lines lines={lines.flatMap(line => wrapRows(line, columns))} width={columns} />;
}

interface DetailsProps<Entry, Tab extends string> {
  readonly listed: Listed<Entry, Tab>;
  readonly size: Size;
  readonly details: ListAreas['details'];
  readonly onSeen: SheetProps['onSeen'];
}

function Details<Entry, Tab extends string>({ listed, size, details, onSeen }: DetailsProps<Entry, Tab>) {
  const { list, state } = listed;
  const entry = selectedEntry(listed);
  const place = selectedSheet(listed, size);
  const palette = useContext(PaletteContext);
  const tabs = list.tabs.map(({ name, title }) => ({
    title,
    isChosen: name === state.tab,
    isMarked: entry !== undefined && (list.isMarked?.(entry, name) ?? false),
  }));
  return (
    <>
      {tabs.length > 1 && <Tabs tabs={tabs} width={details.columns} />}
      {place ? (
        <Sheet reading={state.reading} place={{ ...place, palette }} onSeen={onSeen} />
      ) : (
        <EmptyList lines={[[say(list.missing ?? '', 'warn')]]} columns={details.columns} />
      )}
    </>
  );
}
