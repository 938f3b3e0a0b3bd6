import { describe, expect, test } from 'vitest';
import type { Listed } from '../../../../src/tui/calls/list.js';
import type { Command } from '../../../../src/tui/workbench/keys.js';
import { type Stage, update } from '../../../../src/tui/workbench/keys.js';
import { FIRST_STATE, type State } from '../../../../src/tui/workbench/state.js';

const listed = (ids: readonly string[], selected: number): Listed => ({
  ids,
  selected,
  textOf: index => ids[index] ?? '',
});

const IDS = ['alpha', 'beta', 'gamma', 'beta two'];

function stage(state: State, change: Partial<Stage> = {}): Stage {
  const { tools, calls } = state;
  return {
    entries: listed(IDS, tools.selected === null ? 0 : IDS.indexOf(tools.selected)),
    calls: listed(IDS, calls.selected === null ? IDS.length - 1 : IDS.indexOf(calls.selected)),
    volumes: [0, 7],
    parts: 2,
    ...change,
  };
}

function having(commands: readonly Command[], from: Partial<State> = {}, change: Partial<Stage> = {}): State {
  const first: State = { ...FIRST_STATE, ...from };
  return commands.reduce((state, command) => update(state, command, stage(state, change)), first);
}

const CALLS = { page: 'calls' } as const;

describe('the list of tools', () => {
  test.each([
    [['down'], 'beta'],
    [['down', 'down', 'down', 'down', 'down'], 'beta two'],
    [['down', 'up', 'up'], 'alpha'],
    [['last'], 'beta two'],
    [['last', 'first'], 'alpha'],
  ] as const)('%j selects %s', (commands, selected) => {
    expect(having(commands).tools.selected).toBe(selected);
  });

  test('is searched round and round, in both directions', () => {
    const tools = { ...FIRST_STATE.tools, wanted: 'BETA' };
    expect(having(['nextMatch'], { tools }).tools.selected).toBe('beta');
    expect(having(['nextMatch', 'nextMatch', 'nextMatch'], { tools }).tools.selected).toBe('beta');
    expect(having(['previousMatch'], { tools }).tools.selected).toBe('beta two');
    expect(having(['nextMatch'], { tools: { ...tools, wanted: 'delta' } }).tools.selected).toBeNull();
  });
});

describe('the list of calls', () => {
  test('follows the newest until one is selected, and again after End', () => {
    expect(having(['up'], CALLS).calls.selected).toBe('gamma');
    expect(having(['up', 'last'], CALLS).calls.selected).toBeNull();
  });

  test('does not follow any more once a call is read', () => {
    expect(having(['enter'], CALLS).calls).toMatchObject({ selected: 'beta two', focus: 0 });
  });

  test('reads nothing where there is nothing to read', () => {
    expect(having(['enter'], CALLS, { parts: 0 }).calls.focus).toBe('list');
  });

  test('goes from volume to volume, and to the first again', () => {
    expect(having(['nextVolume'], CALLS).calls.volume).toBe(7);
    expect(having(['nextVolume', 'nextVolume'], CALLS).calls.volume).toBe(0);
  });
});

describe('the focus', () => {
  test.each<[Command]>([['back'], ['focusNext'], ['focusPrevious'], ['nextVolume']])(
    'on the list lets nothing be alone: %s',
    command => {
      const zoomed = having(['enter', 'zoom'], CALLS, { parts: 1 });
      expect(zoomed.calls.isZoomed).toBe(true);
      expect(having([command], zoomed, { parts: 1 }).calls).toMatchObject({ focus: 'list', isZoomed: false });
    },
  );

  test('goes through the list and each part, there and back', () => {
    const focus = (commands: readonly Command[]) => having(commands, CALLS).calls.focus;
    expect(focus(['focusNext'])).toBe(0);
    expect(focus(['focusNext', 'focusNext'])).toBe(1);
    expect(focus(['focusNext', 'focusNext', 'focusNext'])).toBe('list');
    expect(focus(['focusPrevious'])).toBe(1);
    expect(focus(['focusPrevious', 'focusPrevious'])).toBe(0);
  });

  test('goes back from a part to the list, from there to the tools', () => {
    expect(having(['enter', 'back'], CALLS)).toMatchObject({ page: 'calls', calls: { focus: 'list' } });
    expect(having(['enter', 'back', 'back'], CALLS).page).toBe('tools');
  });

  test('stays on the list as tabs change, and is at the first part of the next tab while one is read', () => {
    expect(having(['tab3'], CALLS).calls).toMatchObject({ tab: 'wire', focus: 'list' });
    expect(having(['enter', 'focusNext', 'tab2'], CALLS).calls).toMatchObject({ tab: 'timeline', focus: 0 });
  });
});
