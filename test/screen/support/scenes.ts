import type { Pane, Panes } from '../../../src/story/panes.js';
import type { Scene } from '../../../src/ui/live/frame.js';

const TONE = 'plain';
const done = (key: string, text: string): Scene['steps'][number] => ({
  key,
  at: 0,
  state: 'done',
  line: [{ text, tone: TONE }],
});
const STEPS = [done('a', 'discovered a tool'), done('b', 'sent an operation')];

/** A call that waits, so many ms after it was sent. */
export function waitingScene(ms: number): Scene {
  const waiting = {
    key: 'c',
    at: 0,
    state: 'running',
    line: [{ text: 'waiting for the result', tone: TONE }],
  } as const;
  return { steps: [...STEPS, waiting], panes: null, now: ms };
}

/** A call with its result: what the human sees, and what the LLM gets. */
export function settledScene(human: string, llm: string): Scene {
  const panes: Panes = {
    human: pane('human', human),
    llm: pane('llm', llm),
    choice: { chosen: null, reason: 'no display_as', skipped: [], warnings: [] },
    warnings: [],
  };
  return { steps: [...STEPS, done('c', 'result')], panes, now: 1_000 };
}

function pane(title: Pane['title'], text: string): Pane {
  return { title, about: 'text', notes: [], drawing: { kind: 'text', text } };
}
