import { Highlighter } from '../display/syntax/highlighter.js';
import { loadLexers } from '../display/syntax/load.js';
import type { ColourLevel } from '../dress/colour-level.js';

/** What colours code: it takes a moment to load, and is not before there is something to colour, and colours to do it with. */
export class Highlighting {
  /** Null until then. */
  current: Highlighter | null = null;
  #isAsked = false;

  constructor(
    private readonly level: ColourLevel,
    private readonly onLoad: () => void,
  ) {}

  ask(): void {
    if (!this.#isAsked && this.level >= 2) void this.#load();
  }

  async #load(): Promise<void> {
    this.#isAsked = true;
    const { lexerOf } = await loadLexers();
    this.current = new Highlighter(lexerOf);
    this.onLoad();
  }
}
