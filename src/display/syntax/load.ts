import type { Drawing } from '../segments.js';
import { Highlighter, languageOf } from '../syntax.js';

/**
 * The highlighter for what is to be drawn, to be awaited once before; null without code in a known language.
 */
export async function loadHighlighter(drawings: readonly Drawing[]): Promise<Highlighter | null> {
  if (!drawings.some(hasKnownCode)) return null;
  const { lexerOf } = await loadLexers();
  return new Highlighter(lexerOf);
}

/** Takes some 20 ms, once: good to have done where there is something to wait for. */
export function loadLexers() {
  return import('../syntax-lexers.js');
}

function hasKnownCode(drawing: Drawing): boolean {
  return (
    drawing.kind === 'diff' && drawing.diff.files.some(({ newPath }) => languageOf(newPath) !== undefined)
  );
}
