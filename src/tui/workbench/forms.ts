import type { Form } from './form/form.js';

/** What a form is about. */
interface Subject {
  readonly server: string;
  readonly operation: string;
  /** The call that is edited in it; null in the form of the operation itself. */
  readonly about: string | null;
}

/** A form with its input. */
export interface OpenForm extends Subject {
  /** Names this form: another one of the same operation does not get the answer to its call. */
  readonly id: symbol;
  /** The first line of the operation's description. */
  readonly description: string;
  readonly form: Form;
}

/** The oldest form is forgotten first. */
const MOST = 50;

/** The forms of this session: the input in each stays until it is sent. */
export class Forms {
  /** The form that is filled in now, or was last. */
  current: OpenForm | null = null;
  /** The others, the latest last. */
  #left: readonly OpenForm[] = [];

  find(subject: Subject): OpenForm | undefined {
    return this.#all.find(each => isSame(each, subject));
  }

  open(form: OpenForm): void {
    this.#left = this.#all.filter(each => !isSame(each, form)).slice(-MOST);
    this.current = form;
  }

  /** Keeps a form without opening it. */
  keep(form: OpenForm): void {
    if (this.current?.id !== form.id)
      this.#left = [...this.#left.filter(each => !isSame(each, form)), form].slice(-MOST);
  }

  update(id: symbol | string, change: (form: OpenForm) => OpenForm): void {
    const changed = (each: OpenForm) => (each.id === id ? change(each) : each);
    this.current = this.current && changed(this.current);
    this.#left = this.#left.map(changed);
  }

  get #all(): readonly OpenForm[] {
    return [...this.#left, ...(this.current ? [this.current] : [])];
  }
}

function isSame(one: Subject, other: Subject): boolean {
  return one.server === other.server && one.operation === other.operation && one.about === other.about;
}
