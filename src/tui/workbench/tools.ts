import type { Tool } from '../../protocol/toolset.js';
import { jsonLine, type Line, line, quote, say, textLines } from '../../render/line.js';
import { toolLines } from '../../render/toolset.js';
import { Memo } from '../../util/collections.js';
import { truncate } from '../../util/text.js';
import { TOOL_TABS, type ToolTab } from '../calls/tabs.js';
import { cursorMark, firstLineOf, keysLine } from '../layout.js';
import type { List } from '../list/list.js';
import { onePart, type Sheet } from '../reading/parts.js';
import { definitionsIn, definitionsText, type Model, type Server, toolsOf } from './model.js';

/** A server, or one of its operations. */
export interface ToolEntry {
  readonly key: string;
  readonly server: Server;
  /** Null in the entry of the server itself. */
  readonly tool: Tool | null;
  /** The number of configured toolsets that define it. If there are several, none is used (RT-TOOLSET). */
  readonly definitions: number;
}

export function entryKey(...names: readonly [server: string, operation?: string]): string {
  return JSON.stringify(names);
}

function entriesOf(servers: readonly Server[]) {
  const definitionsOf = definitionsIn(servers);
  const entries = servers.flatMap((server): readonly ToolEntry[] => [
    { key: entryKey(server.id), server, tool: null, definitions: 1 },
    ...toolsOf(server).map(tool => ({
      key: entryKey(server.id, tool.name),
      server,
      tool,
      definitions: definitionsOf(server, tool.name),
    })),
  ]);
  const keys = entries.map(({ key }) => key);
  const counted = keys.filter((_, index) => entries[index]?.tool);
  const preselected = Math.max(0, keys.indexOf(counted[0] ?? ''));
  const byKey = new Map(entries.map(entry => [entry.key, entry]));
  return { name: 'tools', keys, counted, get: (key: string) => byKey.get(key), preselected };
}

/** The list of tools. The first operation is preselected. */
export function toolsList(
  model: Pick<Model, 'servers' | 'recent'>,
): Omit<List<ToolEntry, ToolTab>, 'highlighter'> {
  const sheets = new Memo<Sheet>();
  const entries = new Memo<ReturnType<typeof entriesOf>>();
  return {
    title: 'Tools',
    tabs: TOOL_TABS,
    wide: 100,
    share: 0.38,
    hasHead: false,
    entries() {
      const { servers } = model;
      return entries.of(servers, () => entriesOf(servers));
    },
    titleOf: ({ tool, server }: ToolEntry) => tool?.name ?? server.about,
    textOf: ({ tool, server }: ToolEntry) => (tool ? [tool.name, tool.description] : [server.about]),
    table: (shown, selected) => ({
      head: null,
      rows: shown.map((entry, index) => entryLine(entry, index === selected)),
      isRunning: false,
    }),
    sheetOf(entry: ToolEntry, tab: ToolTab): Sheet {
      const { key, server, tool, definitions } = entry;
      if (tab === 'logs') return sheets.of([key, server.output], () => logsSheet(server));
      const title = say(tool ? 'OPERATION' : 'SERVER', 'title');
      return sheets.of([key, server.state, definitions], () => onePart([title], detailLines(entry)));
    },
    empty: (): readonly Line[] => [
      line`No servers yet.`,
      keysLine('Press ', 'u', ' to open one by its URL, or ', 'D', ' to open the bundled demo.'),
      ...(model.recent.length > 0 ? [[], keysLine('Press ', 'p', ' to open a recent server:')] : []),
      ...model.recent.map((url): Line => [say('  '), ...quote(url)]),
    ],
  };
}

/** Limits: lines of a schema or a description, and characters of a description. */
const MAX = { lines: 2_000, characters: 20_000 };

function detailLines({ server, tool, definitions }: ToolEntry): readonly Line[] {
  if (!tool) return serverLines(server);
  const schema = textLines(JSON.stringify(tool.inputSchema, null, 2), MAX.lines);
  const rest = schema.total - schema.lines.length;
  const warning = `${definitionsText(definitions)}. Press u to open one by its URL.`;
  return [
    ...(definitions > 1 ? [[say(warning, 'warn')], []] : []),
    ...toolLines({ ...tool, description: truncate(tool.description, MAX.characters) }).slice(0, MAX.lines),
    [],
    [say('inputSchema', 'dim')],
    ...schema.lines.map(jsonLine),
    ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : []),
  ];
}

function serverLines({ about, state }: Server): readonly Line[] {
  switch (state.kind) {
    case 'loading':
      return [[say('Loading its toolset.', 'dim')]];
    case 'unstarted':
      return [
        [say('.infinity/rap.json names a command that starts this server:')],
        [say('  '), ...quote(state.command, 'title')],
        [say('It runs only when you say so: ⏎ starts it.', 'warn')],
      ];
    case 'failed':
      return [
        quote(state.message, 'bad'),
        ...state.faults.map(fault => [say('  '), ...quote(fault, 'bad')]),
        ...(state.hint === null ? [] : [quote(state.hint)]),
        [say('⏎ retry · x remove', 'dim')],
      ];
    case 'ready':
      return [
        [...quote(state.toolset.name, 'title'), say('  '), ...quote(state.toolset.description ?? '')],
        [say('from      ', 'dim'), ...quote(about)],
        [say('endpoint  ', 'dim'), ...quote(state.toolset.endpoint)],
        ...state.notes.map((note): Line => [say('note      ', 'dim'), ...quote(note, 'warn')]),
      ];
  }
}

function entryLine({ server, tool, definitions }: ToolEntry, isSelected: boolean): Line {
  if (!tool) return [cursorMark(isSelected), ...serverLine(server)];
  return [
    cursorMark(isSelected),
    say('  '),
    ...quote(tool.name, isSelected ? 'title' : 'plain'),
    ...(definitions > 1 ? [say(` ⚠ in ${definitions} toolsets`, 'bad')] : []),
    ...(tool.annotations?.destructive ? [say(' ⚠ destructive', 'bad')] : []),
    say('  '),
    ...quote(firstLineOf(tool.description), 'dim'),
  ];
}

function serverLine({ about, state }: Server): Line {
  const name = quote(about, 'title');
  switch (state.kind) {
    case 'loading':
      return [...name, say('  loading …', 'running')];
    case 'unstarted':
      return [...name, say('  not started: ⏎ starts it', 'warn')];
    case 'failed': {
      // The row already names the server.
      const rest = state.message.split(': ').filter(piece => !piece.includes(about));
      return [...name, say('  ✗ ', 'bad'), ...quote(rest.join(': ') || state.message, 'bad')];
    }
    case 'ready': {
      const { name: own } = state.toolset;
      return [...quote(own, 'title'), ...(about === own ? [] : [say('  '), ...quote(about, 'dim')])];
    }
  }
}

function logsSheet({ output }: Server): Sheet {
  const title = [say('LOGS', 'title'), say(' stderr of the server', 'dim')];
  const none = output ? 'the server wrote nothing' : 'this server was not started here';
  if (!output?.length) return onePart(title, [[say(none, 'dim')]]);
  return onePart(
    title,
    output.map(each => quote(each)),
    true,
  );
}
