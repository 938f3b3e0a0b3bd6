import { loadLexers } from '../../display/syntax/load.js';
import { Highlighter } from '../../display/syntax.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';

/** Loads the syntax highlighter when there is something to colour, and colours to do it with: it takes a moment. */
export class Highlighting {
  /** Null until it is loaded. */
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
