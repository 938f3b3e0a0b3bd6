import type { Callback, CallbackType } from '../protocol/callbacks/index.js';

/** A callback that came to the address of one call. */
export interface Letter {
  readonly leg: string;
  /** Null where it is none that can be read. */
  readonly message: Callback | null;
  readonly sha256: string;
  /** Whether it was answered 200: the tool must not send it again. */
  readonly isTaken: boolean;
}

/** What came to the address of one call so far, and whoever waits for more. */
export class Mailbox {
  readonly #letters: Letter[] = [];
  #readers: readonly ((letter: Letter) => void)[] = [];

  get letters(): readonly Letter[] {
    return this.#letters;
  }

  put(letter: Letter): void {
    this.#letters.push(letter);
    for (const read of this.#readers) read(letter);
  }

  /** Tells of every letter from now on. */
  subscribe(read: (letter: Letter) => void): () => void {
    this.#readers = [...this.#readers, read];
    return () => {
      this.#readers = this.#readers.filter(each => each !== read);
    };
  }

  /** Resolves once the letters are as they are wanted, which they may be already. */
  until(isEnough: (letters: readonly Letter[]) => boolean): Promise<void> {
    if (isEnough(this.#letters)) return Promise.resolve();
    return new Promise(resolve => {
      const unsubscribe = this.subscribe(() => {
        if (!isEnough(this.#letters)) return;
        unsubscribe();
        resolve();
      });
    });
  }
}

/** Whether so many letters of a type came. */
export function came(type: CallbackType, times = 1): (letters: readonly Letter[]) => boolean {
  return letters => letters.filter(({ message }) => message?.type === type).length >= times;
}

/** Whether it starts a subscription. */
export function isSubscription({ message }: Letter): boolean {
  return message?.type === 'tool_result' && message.subscription === true;
}

/** Whether a letter came that was answered 200. */
export function isTaken(letters: readonly Letter[]): boolean {
  return letters.some(letter => letter.isTaken);
}
