import { type Line, quote, say } from '../../render/line.js';
import { cutLine, widthOf } from '../../render/terminal/fit.js';
import { choicesLine, firstLineOf } from '../layout.js';
import { isReading } from '../list/list.js';
import { definitionsIn, definitionsText } from './model.js';
import { isSending } from './run.js';
import { currentForm, type OpenForm } from './state.js';
import { selectedCall, selectedTool, type Workbench } from './workbench.js';

const PROGRAM: Line = [say('protocol-cli  ', 'dim')];

/** Minimum width of the text at the right of the head, in cells. */
const MIN_ABOUT = 12;

/** Possible widths of a form's name in the head, in cells; the widest that fits is used. */
const NAME_WIDTHS = [60, 30, 24, 20, 16, 12, 7];

/** The pages, and the current item if there is room for it. */
export function workbenchHead(workbench: Workbench, columns: number): readonly Line[] {
  const state = workbench.store.state();
  const { page } = state;
  const form = currentForm(state);
  const { callLog, isLive } = workbench.source();
  const running = isLive && callLog.underWay.size > 0 ? `, ${callLog.underWay.size} running` : '';
  const sending = state.sending.some(({ isRerun }) => isRerun) ? ', sending …' : '';
  const pages = (max: number) =>
    choicesLine([
      { text: 'Tools', isChosen: page === 'tools' },
      ...(form ? [{ text: `Form ${form.operation}`, isChosen: page === 'form', max }] : []),
      { text: `Calls ${callLog.keys.length}${running}${sending}`, isChosen: page === 'calls' },
    ]);
  const named = NAME_WIDTHS.map(max => [...PROGRAM, ...pages(max)]);
  const fitting = named.find(line => widthOf(line) + MIN_ABOUT + 2 <= columns);
  const line = fitting ?? pages(NAME_WIDTHS.at(-1) ?? 0);
  const room = columns - widthOf(line) - 2;
  if (room < MIN_ABOUT) return [line];
  const about = cutLine(quote(aboutText(workbench), 'dim'), room);
  return [[...line, say(' '.repeat(room + 2 - widthOf(about))), ...about]];
}

/** The text at the right of the head: the server, the transcript, or the current call. */
function aboutText(workbench: Workbench): string {
  const { servers, serverOf } = workbench.model;
  const state = workbench.store.state();
  const source = workbench.source();
  if (state.page === 'tools') return selectedTool(workbench)?.server.about ?? '';
  if (state.page === 'form') return servers.find(({ id }) => id === currentForm(state)?.server)?.about ?? '';
  const call = selectedCall(workbench);
  if (call && isReading(state.calls)) return `${call.invocation.operation} ${call.invocation.id}`;
  if (!source.isLive) return source.name;
  const id = call ? serverOf(call.key) : null;
  const only = servers.length === 1 ? servers[0] : undefined;
  return (servers.find(server => server.id === id) ?? only)?.about ?? '';
}

/** The lines above the fields of a form. */
export function formHeading(workbench: Workbench, open: OpenForm, isRoomy: boolean): readonly Line[] {
  const { servers } = workbench.model;
  const { operation, description, server, name } = open;
  const owner = servers.find(each => each.id === server);
  const definitions = owner ? definitionsIn(servers)(owner, operation) : 1;
  const sending = isSending(workbench, name) ? '  sending …' : '';
  return [
    ...(isRoomy ? [[]] : []),
    [
      ...quote(operation, 'title'),
      say(sending, 'running'),
      say('  '),
      ...quote(firstLineOf(description), 'dim'),
    ],
    definitions > 1 ? [say(definitionsText(definitions), 'bad')] : [],
  ];
}
