import type { ToolResult } from '../protocol/callbacks.js';
import { llmText } from '../protocol/outcome.js';

/** Whether the model got exactly this result; an image may be any words. */
export function isExactly(text: string, result: ToolResult): boolean {
  const { content = [] } = result;
  if (!content.some(({ type }) => type === 'image')) return text === llmText(result);
  const runs: string[][] = [[]];
  for (const item of content)
    if (item.type === 'text') runs.at(-1)?.push(item.text);
    else runs.push([]);
  const [first = [], ...others] = runs;
  const last = others.pop() ?? [];
  const between = others.filter(({ length }) => length > 0);
  return hasRuns(
    text,
    [first, ...between, last].map(run => run.join('\n')),
  );
}

/** Whether a text consists of these runs, with something visible between each two. */
function hasRuns(text: string, [first = '', ...others]: readonly string[]): boolean {
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const [index, run] of others.entries()) {
    const isLast = index === others.length - 1;
    const at = isLast ? text.length - run.length : text.indexOf(run, from + 1);
    if (at <= from || text.slice(from, at).trim() === '' || !text.startsWith(run, at)) return false;
    from = at + run.length;
  }
  return true;
}
