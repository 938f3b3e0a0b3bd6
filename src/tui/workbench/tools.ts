import type { Tool } from '../../protocol/toolset.js';
import { jsonLine, type Line, quote, say, textLines } from '../../render/line.js';
import { toolLines } from '../../render/toolset.js';
import type { Memo } from '../../util/collections.js';
import type { ListSource } from '../calls/list-detail.js';
import { onePart, type Sheet } from '../calls/tabs.js';
import { linesDocument } from '../document/documents.js';
import { definitionsIn, definitionsOf, definitionsWords, type Server } from './model.js';

/** An entry of the list of tools: a server, or one of its operations. */
export type Entry = { readonly key: string; readonly server: Server } & (
  | { readonly kind: 'server' }
  | {
      readonly kind: 'operation';
      readonly tool: Tool;
      /** The number of configured toolsets that define it: of several none is used (RT-TOOLSET). */
      readonly definitions: number;
    }
);

export function serverKey(server: string): string {
  return JSON.stringify([server]);
}

export function operationKey(server: string, operation: string): string {
  return JSON.stringify([server, operation]);
}

/** Each server, followed by its operations. */
export function entriesOf(servers: readonly Server[]): readonly Entry[] {
  const definitions = definitionsIn(servers);
  return servers.flatMap((server): readonly Entry[] => [
    { key: serverKey(server.id), kind: 'server', server },
    ...toolsOf(server).map(tool => ({
      key: operationKey(server.id, tool.name),
      kind: 'operation' as const,
      server,
      tool,
      definitions: definitionsOf(server, tool.name, definitions),
    })),
  ]);
}

export function toolsOf({ state }: Server): readonly Tool[] {
  return state.kind === 'ready' ? state.toolset.tools : [];
}

/** The first line of a description, which may be a book: as much as a row shows. */
export function firstLineOf(text: string): string {
  return text.slice(0, 400).split('\n', 1)[0] ?? '';
}

/** Longer schemas are cut. */
const MOST_LINES = 2_000;

function detailLines(entry: Entry): readonly Line[] {
  if (entry.kind === 'server') return serverLines(entry.server);
  const { tool, definitions } = entry;
  const schema = textLines(JSON.stringify(tool.inputSchema, null, 2), MOST_LINES);
  const rest = schema.total - schema.lines.length;
  return [
    ...(definitions > 1
      ? [[say(`${definitionsWords(definitions)}: u opens one by its URL.`, 'warn')], []]
      : []),
    ...toolLines(tool).slice(0, MOST_LINES),
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
    case 'asleep':
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

const CURSOR = '❯ ';

function entryLine(entry: Entry, isSelected: boolean): Line {
  const cursor = say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running');
  if (entry.kind === 'server') return [cursor, ...serverLine(entry.server)];
  const { tool, definitions } = entry;
  return [
    cursor,
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
    case 'asleep':
      return [...name, say('  not started: ⏎ starts it', 'warn')];
    case 'failed':
      return [...name, say('  ✗ ', 'bad'), ...quote(withoutName(state.message, about), 'bad')];
    case 'ready':
      return [
        ...quote(state.toolset.name, 'title'),
        ...(about === state.toolset.name ? [] : [say('  '), ...quote(about, 'dim')]),
      ];
  }
}

/** The row names the server already. */
function withoutName(message: string, about: string): string {
  const rest = message.split(': ').filter(piece => !piece.includes(about));
  return rest.length > 0 ? rest.join(': ') : message;
}

const EMPTY: readonly Line[] = [
  [say('No servers yet.')],
  [
    say('u', 'title'),
    say(' opens one by its URL; ', 'dim'),
    say('D', 'title'),
    say(' opens the demo, a tool bundled with this program.', 'dim'),
  ],
];

export const TOOL_TABS = [
  { name: 'about', title: 'About' },
  { name: 'logs', title: 'Logs' },
] as const;

export type ToolTab = (typeof TOOL_TABS)[number]['name'];

/** What a server that was started here wrote. */
function logsSheet({ output }: Server): Sheet {
  const title = [say('LOGS', 'title'), say(' stderr of the server', 'dim')];
  const none = output ? 'the server wrote nothing' : 'this server was not started here';
  if (!output?.length) return onePart(title, [[say(none, 'dim')]]);
  const document = linesDocument(output.map(line => quote(line)));
  return { parts: [{ title, document, pane: null, isStream: true }] };
}

/** The list of tools. The first operation is preselected. */
export function toolsSource(servers: readonly Server[], sheets: Memo<Sheet>): ListSource<ToolTab> {
  const entries = entriesOf(servers);
  const find = (key: string) => entries.find(entry => entry.key === key);
  return {
    name: 'tools',
    keys: entries.map(({ key }) => key),
    indexOf: key => entries.findIndex(entry => entry.key === key),
    titleOf: key => {
      const entry = find(key);
      return entry?.kind === 'operation' ? entry.tool.name : (entry?.server.about ?? '');
    },
    preselected: Math.max(
      0,
      entries.findIndex(({ kind }) => kind === 'operation'),
    ),
    textOf: key => {
      const entry = find(key);
      return entry?.kind === 'operation'
        ? `${entry.tool.name} ${entry.tool.description}`
        : (entry?.server.about ?? '');
    },
    headRows: 0,
    rows: ({ keys, selected }) => ({
      lines: keys.flatMap((key, index) => {
        const entry = find(key);
        return entry ? [entryLine(entry, index === selected)] : [];
      }),
      isRunning: false,
    }),
    sheetOf: (key, tab) => {
      const entry = find(key);
      if (!entry) return onePart([], []);
      if (tab === 'logs') return sheets.of([key, entry.server.output], () => logsSheet(entry.server));
      const definitions = entry.kind === 'operation' ? entry.definitions : 1;
      return sheets.of([key, entry.server.state, definitions], () =>
        onePart([say(entry.kind === 'server' ? 'SERVER' : 'OPERATION', 'title')], detailLines(entry)),
      );
    },
    empty: EMPTY,
  };
}
