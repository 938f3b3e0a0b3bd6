import { writeOut } from '../system/output.js';

/** Characters that may wait for a reader. */
const MOST = 64 * 1024 * 1024;

/**
 * What a reporter says on stdout, one thing after the other, as its reader takes it. News that would fill the memory meanwhile are
 * dropped, and counted: never in silence (threats, row 30).
 */
export class Page {
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #lost = 0;
  #isBroken = false;

  /** @param lost says how many news were dropped */
  constructor(
    private readonly stdout: NodeJS.WritableStream,
    private readonly lost: (count: number) => string = () => '',
    private readonly most = MOST,
  ) {}

  /** Written in any case. */
  write(text: string): void {
    this.last(() => text);
  }

  /** Written in any case, and made after what was lost is told. */
  last(make: () => string): void {
    const told = this.#lost > 0 ? this.lost(this.#lost) : '';
    this.#lost = 0;
    const text = make();
    if (told + text !== '' && !this.#isBroken) this.#queue(told + text);
  }

  /** Written where there is room; else they are not even made. */
  news(make: () => string): void {
    if (this.#waiting > this.most) this.#lost++;
    else this.last(make);
  }

  /** Resolves once all that was said is written. @throws ProtocolCliError `unwritable-file`, as on a full disk. */
  written(): Promise<void> {
    return this.#writing;
  }

  #queue(text: string): void {
    const isIdle = this.#waiting === 0;
    this.#waiting += text.length;
    const written = isIdle
      ? writeOut(this.stdout, text)
      : this.#writing.then(() => writeOut(this.stdout, text));
    this.#writing = written.finally(() => {
      this.#waiting -= text.length;
    });
    this.#writing.catch(() => {
      this.#isBroken = true; // whoever awaits `written()` hears of it
    });
  }
}
