import { describe, expect, test } from 'vitest';
import { MADE_CALL_TABS, TOOL_TABS } from '../../../src/tui/calls/tabs.js';
import { initialList, type List } from '../../../src/tui/list/list.js';
import {
  currentForm,
  initialWorkbench,
  type Lists,
  type OpenForm,
  type Sending,
  type WorkbenchAction,
  type WorkbenchState,
  workbenchReducer,
} from '../../../src/tui/workbench/state.js';
import { wordList } from '../list/words.js';
import { formFor } from './form/support/pressing.js';

/** A list of words with these tabs, which are empty. */
function listWith<Tab extends string>(
  words: readonly string[],
  tabs: List<string, Tab>['tabs'],
): List<string, Tab> {
  return { ...wordList(words), tabs, isMarked: () => false, sheetOf: () => [] };
}

const LISTS: Lists<string, string> = {
  tools: listWith(['edit', 'watch'], TOOL_TABS),
  calls: listWith(['call_1', 'call_2'], MADE_CALL_TABS),
};
const START = initialWorkbench(LISTS);
const TOOLS = initialList(LISTS.tools);
const CALLS = initialList(LISTS.calls);

const reduce = workbenchReducer(LISTS);
const reduced = (...actions: readonly WorkbenchAction[]) => actions.reduce(reduce, START);

const form = (name: string): OpenForm => ({
  name,
  server: 's1',
  operation: name,
  about: null,
  description: '',
  form: formFor({}),
});
const open = (name: string, isShown = true): WorkbenchAction => ({
  type: 'openForm',
  form: form(name),
  isShown,
});
const sending: Sending = {
  draft: { server: 's1', operation: 'edit', arguments: {} },
  validates: true,
  from: 'edit',
  isRerun: false,
};
const move: WorkbenchAction = {
  type: 'list',
  action: { type: 'move', by: -1 },
  room: { columns: 80, rows: 20 },
  until: 10,
};
const toCalls: WorkbenchAction = { type: 'go', page: 'calls' };

test.each<[string, readonly WorkbenchAction[], Partial<WorkbenchState>]>([
  ['goes to a page', [toCalls], { page: 'calls' }],
  ['moves in the tools', [move], { tools: { ...TOOLS, selected: 'edit' } }],
  ['moves in the calls', [toCalls, move], { page: 'calls', calls: { ...CALLS, selected: 'call_1' } }],
  ['selects a tool', [{ type: 'selectTool', key: 'edit' }], { tools: { ...TOOLS, selected: 'edit' } }],
  ['selects a call', [{ type: 'selectCall', key: 'call_1' }], { calls: { ...CALLS, selected: 'call_1' } }],
  ['shows a tab of the call', [{ type: 'showTab', tab: 'wire' }], { calls: { ...CALLS, tab: 'wire' } }],
  [
    'shows the calls of a transcript',
    [{ type: 'showCalls', source: 3, key: 'call_1' }],
    { page: 'calls', source: 3, calls: { ...CALLS, selected: 'call_1' } },
  ],
  ['shows a form', [open('edit')], { page: 'form', form: 'edit', forms: [form('edit')] }],
  ['keeps a form for later', [open('edit', false)], { forms: [form('edit')] }],
  [
    'has the latest form last',
    [open('a'), open('b'), open('a')],
    { page: 'form', form: 'a', forms: [form('b'), form('a')] },
  ],
  ['forgets the current form', [open('a'), { type: 'forgetForm', name: 'a' }], { page: 'form' }],
  [
    'forgets another form',
    [open('a'), open('b'), { type: 'forgetForm', name: 'a' }],
    { page: 'form', form: 'b', forms: [form('b')] },
  ],
  ['sends a draft', [{ type: 'sendingBegan', sending }], { sending: [sending] }],
  [
    'has sent a draft',
    [
      { type: 'sendingBegan', sending },
      { type: 'sendingEnded', sending },
    ],
    {},
  ],
  ['warns', [{ type: 'warn', warning: { count: 2, until: 9 } }], { warning: { count: 2, until: 9 } }],
  ['knows that a key was pressed', [{ type: 'pressed' }], { isPressed: true }],
  ['is a screen', [{ type: 'changed' }], { revision: 1 }],
])('a workbench %s', (_, actions, change) => {
  expect(reduced(...actions)).toEqual({ ...START, ...change });
});

describe('a form', () => {
  test('keeps what is typed under its name, also in the background', () => {
    const typed = formFor({ path: { type: 'string' } });
    const state = reduced(open('a'), open('b'), { type: 'changeForm', name: 'a', form: typed });
    expect(state.forms).toEqual([{ ...form('a'), form: typed }, form('b')]);
    expect(currentForm(state)).toEqual(form('b'));
  });

  test('that is current is never dropped, however many are opened in the background', () => {
    const many = Array.from({ length: 60 }, (_, index) => open(`${index}`, false));
    const { forms } = reduced(open('current'), ...many);
    const names = forms.map(({ name }) => name);
    expect(names.at(0)).toBe('current');
    expect(names.at(-1)).toBe('59');
    expect(names).not.toContain('0');
  });
});

test('a second key press changes nothing', () => {
  const state = reduced({ type: 'pressed' });
  expect(reduce(state, { type: 'pressed' })).toBe(state);
});

test('the calls of a transcript begin in the list', () => {
  const reading = { ...START, calls: { ...CALLS, focus: 0, isZoomed: true } };
  expect(reduce(reading, { type: 'showCalls', source: 1, key: null }).calls).toEqual(CALLS);
});
