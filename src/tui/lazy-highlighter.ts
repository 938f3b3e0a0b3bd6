import { Highlighter, loadLexers } from '../render/syntax.js';
import type { ColourLevel } from '../render/terminal/colour-level.js';

/** Loads the highlighter, which takes a moment, when it is first asked for it; null until then, and with few colours. */
export function lazyHighlighter(level: ColourLevel, onLoad: () => void): () => Highlighter | null {
  let highlighter: Highlighter | null = null;
  let isAsked = level < 2;
  return () => {
    if (!isAsked)
      void loadLexers().then(({ lexerFor }) => {
        highlighter = new Highlighter(lexerFor);
        onLoad();
      });
    isAsked = true;
    return highlighter;
  };
}
