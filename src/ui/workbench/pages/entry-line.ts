import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { firstLineOf } from '../first-line.js';
import type { Entry } from '../state/entries.js';

const CURSOR = '❯ ';

/** A server, or an operation, as it stands in the list of tools. */
export function entryLine(entry: Entry, isSelected: boolean): Line {
  const cursor = say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running');
  if (entry.kind === 'server') return [cursor, ...serverLine(entry.server)];
  const { name, annotations = {}, description } = entry.tool;
  const mark = [
    ...(entry.rivals > 1 ? [say(` ⚠ in ${entry.rivals} toolsets`, 'bad')] : []),
    ...(annotations.destructive ? [say(' ⚠ destructive', 'bad')] : []),
  ];
  return [
    cursor,
    say('  '),
    ...quote(name, isSelected ? 'title' : 'plain'),
    ...mark,
    say('  '),
    ...quote(firstLineOf(description), 'dim'),
  ];
}

/** A message that names the server does not do so twice. */
function failedLine(about: string, message: string): Line {
  const reason = message.split(': ').filter(piece => !piece.includes(about));
  if (reason.length === 0) return [say('✗ ', 'bad'), ...quote(message, 'bad')];
  return [...quote(about, 'title'), say('  ✗ ', 'bad'), ...quote(reason.join(': '), 'bad')];
}

function serverLine({ about, state }: Extract<Entry, { kind: 'server' }>['server']): Line {
  switch (state.kind) {
    case 'loading':
      return [...quote(about, 'title'), say('  loading …', 'running')];
    case 'asleep':
      return [...quote(about, 'title'), say('  not started: ⏎ starts it', 'warn')];
    case 'failed':
      return failedLine(about, state.message);
    case 'ready':
      return [
        ...quote(state.toolset.name, 'title'),
        ...(about === state.toolset.name ? [] : [say('  '), ...quote(about, 'dim')]),
      ];
  }
}
