import { EventEmitter } from 'node:events';
import { systemClock } from '../system/clock.js';
import { LIMITS } from '../util/limits.js';

/** What else the terminal sends, as events of the stdin that Ink gives to its components. */
export interface KeyboardEvents {
  paste: [text: string];
  /** @param rows negative upwards */
  wheel: [rows: number];
}

const ESC = '\u001b';

/** How long the rest of a sequence may take: over a network it arrives in several chunks. Then an Esc is the key. In ms. */
const REST_MS = 25;

/** How far a notch of the wheel scrolls. */
export const WHEEL_ROWS = 3;

const CSI = String.raw`\[\[?[0-?]{0,40}[ -/]{0,8}`;
const OLD_MOUSE = String.raw`${ESC}\[M`; // and three characters, from terminals without mode 1006

/** A part of a sequence, a sequence, text or a character with Alt, an invalid sequence, or Esc before another sequence. */
const PIECE = new RegExp(
  [
    `(?<part>(?:${ESC}{1,2}(?:${CSI}|O)?|${OLD_MOUSE}[^]{0,2})$)`,
    `(?<sequence>${OLD_MOUSE}[^]{3}|${ESC}{1,2}(?:${CSI}[@-~]|O[@-~]))`,
    `(?<text>${ESC}[^${ESC}[O]|[^${ESC}]+)`,
    `${ESC}{1,2}(?:${CSI}|O)`,
    `(?<esc>${ESC}{1,2})`,
  ].join('|'),
  'gu',
);

/** The sequences for `Press`. Ink throws on unknown sequences with a Ctrl modifier, and reports others as text. */
const KEY = new RegExp(
  String.raw`^${ESC}{1,2}(?:[[O](?:1;\d+)?[A-DFH]|[[O][a-d]|\[Z|\[[1345678](?:;\d+)?~|\[[35678][$^])$`,
);

const WHEEL = new RegExp(String.raw`^${ESC}\[<(?<button>6[45]);\d+;\d+M$`);

const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

/** The key Ctrl-C; terminals remove it from pasted text. */
const CTRL_C = '\u0003';

/** The Esc key in the kitty protocol: unlike a single character it is never the start of a sequence. */
const ESCAPE_KEY = `${ESC}[27u`;

/** Most terminals send DEL for Backspace, which Ink takes for the Delete key. */
const withBackspaces = (text: string) => text.replaceAll('\u007f', '\b');

/**
 * The stdin for Ink: the keys that it knows. Everything else is dropped, or is an event. It is read only in raw mode; after that, input
 * belongs to the next program in the terminal.
 */
export class Keyboard extends EventEmitter<KeyboardEvents & { readable: [] }> {
  readonly isTTY: boolean;
  /** The input that Ink has not read, and the events between. */
  readonly #queue: (string | (() => void))[] = [];
  /** The start of a sequence, or in pasted text possibly of its end. */
  #part = '';
  #pasted: string | null = null;
  #stopWaiting = () => {};

  constructor(private readonly stdin: NodeJS.ReadStream) {
    super();
    this.isTTY = stdin.isTTY;
  }

  setRawMode(isRaw: boolean): void {
    if (isRaw) this.stdin.on('data', this.#receive).resume();
    else this.stdin.off('data', this.#receive).pause();
    this.stdin.setRawMode(isRaw);
    if (!isRaw) this.#forget();
  }

  setEncoding(encoding: BufferEncoding): void {
    this.stdin.setEncoding(encoding);
  }

  ref(): void {
    this.stdin.ref();
  }

  unref(): void {
    this.stdin.unref();
  }

  read(): string | null {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (typeof next === 'string') return next;
      next();
    }
    return null;
  }

  readonly #receive = (chunk: string): void => {
    this.#stopWaiting();
    if (chunk === CTRL_C) this.#endPaste(); // its end was lost
    const input = this.#part + chunk;
    this.#part = '';
    for (let at = 0; at < input.length; )
      at = this.#pasted === null ? this.#readPiece(input, at) : this.#readPasted(this.#pasted, input, at);
    if (this.#part !== '' && this.#pasted === null)
      this.#stopWaiting = systemClock.after(REST_MS, this.#endPart);
    this.emit('readable');
  };

  /** Returns where the next piece starts. */
  #readPiece(input: string, at: number): number {
    PIECE.lastIndex = at;
    const { part, sequence, text, esc } = PIECE.exec(input)?.groups ?? {};
    if (part !== undefined) this.#part = part;
    else if (text !== undefined) this.#queue.push(withBackspaces(text));
    else if (sequence !== undefined) this.#readSequence(sequence);
    else if (esc !== undefined) this.#queue.push(ESCAPE_KEY);
    return PIECE.lastIndex;
  }

  #readSequence(sequence: string): void {
    const { button } = WHEEL.exec(sequence)?.groups ?? {};
    if (sequence === PASTE_START) this.#pasted = '';
    else if (KEY.test(sequence)) this.#queue.push(sequence);
    else if (button !== undefined) {
      const rows = button === '64' ? -WHEEL_ROWS : WHEEL_ROWS;
      this.#queue.push(() => this.emit('wheel', rows));
    }
  }

  /** The end may be in the next chunk, or in both. */
  #readPasted(before: string, input: string, from: number): number {
    const end = input.indexOf(PASTE_END, from);
    const last = input.lastIndexOf(ESC);
    const isCut = last >= from && PASTE_END.startsWith(input.slice(last));
    const until = end >= 0 ? end : isCut ? last : input.length;
    const text = before + input.slice(from, Math.min(until, from + LIMITS.pasteChars.value - before.length));
    if (end < 0) {
      this.#pasted = text;
      this.#part = input.slice(until);
      return input.length;
    }
    this.#pasted = text;
    this.#endPaste();
    return end + PASTE_END.length;
  }

  #endPaste(): void {
    const text = this.#pasted;
    if (text === null) return;
    this.#part = '';
    this.#pasted = null;
    this.#queue.push(() => this.emit('paste', text));
  }

  /** The rest of a sequence did not arrive: without it, only Esc is a key. */
  readonly #endPart = (): void => {
    const isEscape = this.#part.replaceAll(ESC, '') === '';
    this.#part = '';
    if (!isEscape) return;
    this.#queue.push(ESCAPE_KEY);
    this.emit('readable');
  };

  #forget(): void {
    this.#stopWaiting();
    this.#queue.length = 0;
    this.#part = '';
    this.#pasted = null;
  }
}
