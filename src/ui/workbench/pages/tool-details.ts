import type { Theme } from '../../../dress/theme.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { textLines } from '../../../story/text-lines.js';
import { toolLines } from '../../../story/toolset-lines.js';
import { wrapLines } from '../../scrolled-rows.js';
import { rivalWords } from '../rivals.js';
import type { Entry } from '../state/entries.js';
import type { Server } from '../world.js';

/** More of a schema nobody reads here. */
const MOST_LINES = 2_000;

/** Lays out what is told of an entry; the last one stays laid out, since most frames show the same. */
export class ToolDetails {
  #state: Server['state'] | undefined;
  #id = '';
  #rivals = 1;
  #width = 0;
  #rows: readonly string[] = [];

  constructor(private readonly theme: Theme) {}

  rowsOf(entry: Entry | undefined, width: number): readonly string[] {
    if (!entry) return [];
    const rivals = entry.kind === 'operation' ? entry.rivals : 1;
    const isSame = entry.id === this.#id && entry.server.state === this.#state && rivals === this.#rivals;
    if (isSame && width === this.#width) return this.#rows;
    this.#id = entry.id;
    this.#rivals = rivals;
    this.#state = entry.server.state;
    this.#width = width;
    this.#rows = wrapLines(detailLines(entry), width, this.theme);
    return this.#rows;
  }
}

function detailLines(entry: Entry): readonly Line[] {
  if (entry.kind === 'server') return serverLines(entry.server);
  const lines = toolLines(entry.tool);
  const schema = textLines(JSON.stringify(entry.tool.inputSchema, null, 2), MOST_LINES);
  const rest = schema.total - schema.lines.length;
  return [
    ...rivalLines(entry.rivals),
    ...lines.slice(0, MOST_LINES),
    [],
    [say('inputSchema', 'dim')],
    ...schema.lines,
    ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : []),
  ];
}

function rivalLines(rivals: number): readonly Line[] {
  if (rivals < 2) return [];
  return [[say(`${rivalWords(rivals)}: u opens one by its URL.`, 'warn')], []];
}

function serverLines({ about, state }: Server): readonly Line[] {
  switch (state.kind) {
    case 'loading':
      return [[say('Its toolset is asked for.', 'dim')]];
    case 'asleep':
      return [
        [say('.infinity/rap.json names a command that starts this server:')],
        [say('  '), ...quote(state.command, 'title')],
        [say('It is run only when you say so: ⏎ starts it.', 'warn')],
      ];
    case 'failed':
      return [
        quote(state.message, 'bad'),
        ...state.faults.map(fault => [say('  '), ...quote(fault, 'bad')]),
        ...(state.hint === null ? [] : [quote(state.hint)]),
        [say('⏎ asks it again, x takes it out.', 'dim')],
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
