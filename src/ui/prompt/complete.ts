import type { Typed } from './step.js';

/** A line that goes on, before its cursor, as far as all of these do. @param candidates in order; each begins with what stands there */
export function completed<Prompt extends Typed>(prompt: Prompt, candidates: readonly string[]): Prompt {
  const start = commonStart(candidates.at(0) ?? '', candidates.at(-1) ?? '');
  if (start.length <= prompt.cursor) return prompt;
  return { ...prompt, text: start + prompt.text.slice(prompt.cursor), cursor: start.length };
}

/** Of the first and the last of a sorted list, it is that of all. */
function commonStart(one: string, other: string): string {
  const others = [...other];
  const characters = [...one];
  const end = characters.findIndex((character, index) => character !== others[index]);
  return end < 0 ? one : characters.slice(0, end).join('');
}
