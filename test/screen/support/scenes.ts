import type { UserChoice } from '../../../src/protocol/callbacks.js';
import type { Pane, Panes } from '../../../src/render/panes.js';
import type { Contents } from '../../../src/tui/live/frame.js';
import { pickerOf } from '../../../src/tui/picker.js';

const TONE = 'plain';
const done = (text: string): Contents['steps'][number] => ({
  at: 0,
  state: 'done',
  lines: [[{ text, tone: TONE }]],
});
const NOTHING_ELSE = { status: [], views: [], panes: null, picker: null } as const;
const STEPS = [done('discovered a tool'), done('sent an operation')];

/** A call that waits, so many ms after it was sent. */
export function waitingScene(ms: number): Contents {
  const waiting = {
    at: 0,
    state: 'running',
    lines: [[{ text: 'waiting for the result', tone: TONE }]],
  } as const;
  return { ...NOTHING_ELSE, steps: [...STEPS, waiting], now: ms };
}

/** A call with its result: what the human sees, and what the LLM gets. */
export function settledScene(human: string, llm: string): Contents {
  const panes: Panes = {
    human: pane('human', human),
    llm: pane('llm', llm),
    choice: { chosen: null, reason: 'no display_as', skipped: [], warnings: [] },
    warnings: [],
  };
  return { ...NOTHING_ELSE, steps: [...STEPS, done('result')], panes, now: 1_000 };
}

/** A question that stands on the screen. */
export function question(prompt: string, choices: readonly string[], preset = 0): UserChoice {
  const ids = { group_id: 'thread', id: 'call' };
  const response_url = 'http://127.0.0.1:9/choice';
  return { type: 'user_choice', ...ids, prompt, choices: [...choices], default: preset, response_url };
}

/** A call that waits for an answer, beside what its thread shows. */
export function askingScene(asked: UserChoice, views: readonly string[] = []): Contents {
  return {
    ...waitingScene(1_000),
    status: [[{ text: 'subscribed: 3 events', tone: TONE }]],
    views: views.map(text => pane('view', text)),
    picker: pickerOf(asked),
  };
}

function pane(title: Pane['title'], text: string): Pane {
  return { title, about: 'text', notes: [], drawing: { kind: 'text', text } };
}
