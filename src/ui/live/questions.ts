import type { UserChoice } from '../../protocol/callbacks/index.js';
import type { PickerCommand } from './keys.js';
import { openPicker, type Picker, stepPicker } from './picker.js';

interface Asked {
  picker: Picker;
  readonly answer: (selected: number | null) => void;
}

/** What tools ask a person: one question after the other, each until it is answered or called off. */
export class Questions {
  #asked: readonly Asked[] = [];

  /** `onChange`: another question is the first one now, or none. */
  constructor(private readonly onChange: () => void) {}

  /** The question that is asked now. */
  get picker(): Picker | null {
    return this.#asked[0]?.picker ?? null;
  }

  /** The index that was picked, the default where the question was dismissed; null where the signal called it off. */
  ask(question: UserChoice, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise(resolve => {
      const callOff = () => asked.answer(null);
      const asked: Asked = {
        picker: openPicker(question),
        answer: selected => {
          signal.removeEventListener('abort', callOff);
          this.#asked = this.#asked.filter(each => each !== asked);
          resolve(selected);
          this.onChange();
        },
      };
      signal.addEventListener('abort', callOff);
      this.#asked = [...this.#asked, asked];
      this.onChange();
    });
  }

  press(command: PickerCommand): void {
    const asked = this.#asked[0];
    if (!asked) return;
    asked.picker = stepPicker(asked.picker, command);
    const { selected, question } = asked.picker;
    if (command === 'pick') asked.answer(selected);
    if (command === 'dismiss') asked.answer(question.default);
  }

  /** Nobody is asked any more. */
  callOff(): void {
    for (const { answer } of this.#asked) answer(null);
  }
}
