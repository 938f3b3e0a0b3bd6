import { unread } from '../../../exchange/event-weight.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import type { Judged } from '../../calls/sheets/problems.js';
import type { ToolStory } from './tool-story.js';

/**
 * The runtime that made a call, to be judged by what its tool saw.
 * @param warnings of the call, by now
 * @param note told each time how many requirements were broken, of how many events
 */
export function judgedRuntime(
  story: ToolStory,
  warnings: () => readonly string[],
  note: (broken: number, events: number) => void,
): Judged {
  return {
    get age() {
      return story.told.length;
    },
    async judge() {
      const { judgedRuntimeLines } = await import('../../../story/calls/judged-runtime-lines.js');
      const { file, told, forgotten, redactor } = story;
      const events = [...file.discovery.map(unread), ...told.map(({ event }) => event)];
      const count = told.length + forgotten;
      const { lines, broken } = await judgedRuntimeLines(events, warnings(), redactor);
      note(broken, count);
      return [...partLines(forgotten), ...lines];
    },
  };
}

function partLines(forgotten: number): readonly Line[] {
  if (forgotten === 0) return [];
  return [[say(`judged by what is remembered: ${forgotten} events of the call are forgotten`, 'warn')], []];
}
