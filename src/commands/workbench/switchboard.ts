import type { Runtime } from '../../runtime/runtime.js';
import type { Scene } from './dialling.js';
import type { Manners } from './manners.js';

/** One listener for the callbacks of all calls, opened for the first: nothing else needs it, and it takes its time to load. */
export class Switchboard {
  #runtime: Promise<Runtime> | null = null;
  #isOver = false;

  constructor(
    private readonly scene: Scene,
    private readonly manners: Pick<Manners, 'listener'>,
  ) {}

  /** Asked again, it is tried again where it failed. @throws Error once all is over; as {@link Runtime.start}. */
  async open(): Promise<Runtime> {
    this.#runtime ??= this.#start().catch(error => {
      this.#runtime = null;
      throw error;
    });
    const runtime = await this.#runtime;
    this.#refuseIfOver();
    return runtime;
  }

  /** Nobody is connected from now on. */
  end(): void {
    this.#isOver = true;
  }

  async close(): Promise<void> {
    this.end();
    const runtime = await this.#runtime?.catch(() => null);
    await runtime?.close();
  }

  async #start(): Promise<Runtime> {
    this.#refuseIfOver();
    const { log, book, clock } = this.scene;
    const { Runtime } = await import('../../runtime/runtime.js');
    this.#refuseIfOver();
    return Runtime.start({ log, history: book.history, clock, listener: this.manners.listener });
  }

  #refuseIfOver(): void {
    if (this.#isOver) throw new Error('the workbench is being closed');
  }
}
