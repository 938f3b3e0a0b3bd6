import { type Line, quote, say } from '../render/line.js';
import { cutLine, widthOf } from '../render/terminal/fit.js';
import { LazySegmenter } from '../render/terminal/lazy-segmenter.js';
import type { Press } from './keys.js';

/** Maximum length of a cluster; longer ones are split. */
const MAX_CLUSTER = 64;
const CLUSTERS = new LazySegmenter();

export class TextInput {
  /** @param cursor in UTF-16 units */
  constructor(
    readonly text: string,
    readonly cursor = text.length,
  ) {}

  insert(piece: string): TextInput {
    const { text, cursor } = this;
    return new TextInput(text.slice(0, cursor) + piece + text.slice(cursor), cursor + piece.length);
  }

  /** Moves or erases by grapheme clusters; a key of the line stays within the line. Other keys do nothing. */
  step(key: string): TextInput {
    switch (key) {
      case 'left':
        return this.at(this.#before);
      case 'right':
        return this.at(this.#after);
      case 'home':
        return this.at(this.lineStart);
      case 'end':
        return this.at(this.#lineEnd);
      case 'erase':
        return this.#eraseFrom(this.#before);
      case 'ctrl+w':
        return this.#eraseFrom(this.#wordStart);
      case 'ctrl+u':
        return this.#eraseFrom(Math.min(this.lineStart, this.#before));
      default:
        return this;
    }
  }

  /** Moves down by `count` lines (up if negative), to the same column or to the end of a shorter line. */
  moveLines(count: number): TextInput {
    const column = this.cursor - this.lineStart;
    let line = this.at(this.lineStart);
    for (let left = Math.abs(count); left > 0; left--) {
      const end = line.#lineEnd;
      if (count < 0) line = this.at(Math.max(0, line.cursor - 1));
      else if (end < this.text.length) line = this.at(end + 1);
      line = this.at(line.lineStart);
    }
    return this.at(Math.min(line.cursor + column, line.#lineEnd));
  }

  get lineStart(): number {
    return this.cursor === 0 ? 0 : this.text.lastIndexOf('\n', this.cursor - 1) + 1;
  }

  get #lineEnd(): number {
    const end = this.text.indexOf('\n', this.cursor);
    return end < 0 ? this.text.length : end;
  }

  get #before(): number {
    const start = Math.max(0, this.cursor - MAX_CLUSTER);
    const last = [...CLUSTERS.segment(this.text.slice(start, this.cursor))].at(-1);
    return this.cursor - (last?.segment.length ?? 0);
  }

  get #after(): number {
    const [first] = CLUSTERS.segment(this.text.slice(this.cursor, this.cursor + MAX_CLUSTER));
    return this.cursor + (first?.segment.length ?? 0);
  }

  get #wordStart(): number {
    if (this.cursor === this.lineStart) return this.#before;
    const line = this.text.slice(this.lineStart, this.cursor).trimEnd();
    return this.lineStart + Math.max(line.lastIndexOf(' '), line.lastIndexOf('\t')) + 1;
  }

  at(cursor: number): TextInput {
    return new TextInput(this.text, Math.min(cursor, this.text.length));
  }

  #eraseFrom(from: number): TextInput {
    return new TextInput(this.text.slice(0, from) + this.text.slice(this.cursor), from);
  }

  /** The single-line text after a key. Control characters are never inserted. */
  press({ name, text }: Press): TextInput {
    const stepped = this.step(name === 'ctrl+a' ? 'home' : name === 'ctrl+e' ? 'end' : name);
    if (stepped !== this) return stepped;
    return this.insert([...text].filter(character => character >= ' ').join(''));
  }

  /** Extends the text before the cursor to the longest common prefix. @param candidates sorted; each begins with that text */
  completed(candidates: readonly string[]): TextInput {
    const first = [...(candidates.at(0) ?? '')];
    const last = [...(candidates.at(-1) ?? '')]; // the common prefix of the first and the last of a sorted list is common to all
    const differs = first.findIndex((character, index) => character !== last[index]);
    const start = first.slice(0, differs < 0 ? first.length : differs).join('');
    const { text, cursor } = this;
    return start.length <= cursor ? this : new TextInput(start + text.slice(cursor), start.length);
  }

  /** The part of the text around the cursor that fits `width` cells: a text may have megabytes. */
  line(width: number): Line {
    const { text, cursor } = this;
    const before = clustersOf(text.slice(Math.max(0, cursor - 2 * width), cursor)).map(each => quote(each));
    const [at = ' ', ...after] = clustersOf(text.slice(cursor, cursor + 2 * width));
    const focus = quote(at).map(span => say(span.text, 'cursor'));
    const isWhole = cursor <= 2 * width && widthOf(before.flat()) + widthOf(focus) + 1 <= width;
    let room = Math.floor((width * 2) / 3) - 1;
    const from = before.findLastIndex(cell => {
      room -= widthOf(cell);
      return room < 0;
    });
    const shown = isWhole ? before : [[say('…', 'dim')], ...before.slice(from + 1)];
    const start = [...shown.flat(), ...focus];
    const isCut = cursor + 2 * width < text.length;
    return [...start, ...startLine(after.join(''), isCut, width - widthOf(start))];
  }

  /** The start of the text, without the cursor. */
  quietLine(width: number): Line {
    return startLine(this.text.slice(0, 2 * width), this.text.length > 2 * width, width);
  }
}

function startLine(text: string, isCut: boolean, width: number): Line {
  return cutLine([...quote(text), ...(isCut ? [say(' '.repeat(width))] : [])], width);
}

function clustersOf(text: string): readonly string[] {
  return Array.from(CLUSTERS.segment(text), ({ segment }) => segment);
}
