import { quote, say } from '../../story/spans.js';
import type { Document } from './document.js';
import { indexText } from './text-index.js';
import { unfolded } from './unfolded.js';

/** A text of up to 50 MiB and more; it is read once, here. */
export function textDocument(text: string): Document {
  const lines = indexText(text);
  return {
    length: lines.length,
    line(index) {
      if (index < 0 || index >= lines.length) return [];
      const { text: shown, goesOn } = lines.at(index);
      return goesOn ? [...quote(shown), say(' …', 'dim')] : quote(shown);
    },
    headersAt: () => [],
    find: lines.find,
    landmarks: () => [],
    ...unfolded(lines.length),
  };
}
