import { describe, expect, test } from 'vitest';
import { peerCommand, sdkPeerCommand } from '../e2e/support/mcp.js';
import { openProgram } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const CTRL_C = '\u0003';
const invoke = (tool: string) => ['invoke', '--mcp', peerCommand(), tool];

describe.concurrent('a call over MCP, live', () => {
  test.each([80, 160])('at %i columns: two panes, and no acknowledgement', async columns => {
    await using screen = openHere(invoke('mixed'), { columns });
    expect(await screen.ended).toBe(0);
    const shown = screen.text();
    expect(shown).toContain('✓ discovered plain-peer');
    expect(shown).toContain('✓ sent mixed to stdio:node');
    expect(shown).toMatch(/✓ result after \d+/);
    expect(shown).toContain('HUMAN content, 5 blocks');
    expect(shown).toContain('[hologram]');
    expect(shown.match(/for the model/g)).toHaveLength(1); // the LLM's alone
    expect(shown).not.toMatch(/acknowledg|callback/);
    expect(shown.split('\n').some(line => line.includes('HUMAN') && line.includes('LLM'))).toBe(
      columns === 160,
    );
  });

  test('a form with one choice is a list; Enter selects', async () => {
    await using screen = openHere(['invoke', '--mcp', sdkPeerCommand(), 'pick']);
    await screen.shows('⏎ choose');
    screen.type('\u001b[B\r');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('you picked 1 Large');
    expect(screen.text()).toContain('{"action":"accept","content":{"size":"l"}}');
  });

  test('a form with several fields is asked line by line; an invalid line is asked again', async () => {
    await using screen = openHere(['invoke', '--mcp', sdkPeerCommand(), 'form']);
    for (const [question, answer] of [
      ['Your name (name)', 'A'],
      ['fewer than 2 characters', 'Ada'],
      ['age, optional', ''],
      ['subscribe, optional [true]', 'no'],
      ['colour, optional ["green"]', '0'],
      ['Send these answers?', ''],
    ] as const) {
      await screen.shows(question);
      screen.type(`${answer}\r`);
    }
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain(
      '{"action":"accept","content":{"name":"Ada","subscribe":false,"colour":"red"}}',
    );
  });

  test('while it works, the result is awaited; Ctrl-C cancels', async () => {
    await using screen = openProgram(invoke('slow'));
    await screen.shows('waiting for the result');
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toContain('interrupted');
    expect(screen.text()).not.toMatch(/acknowledg|not answered/);
  });
});
