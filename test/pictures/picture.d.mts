export interface Picture {
  /** Beside this one. */
  readonly file: string;
  readonly words: readonly string[];
  readonly shown?: readonly string[];
  readonly until?: RegExp;
  readonly meanwhile?: (url: string) => Promise<() => void>;
  readonly serve?: () => Promise<{ readonly words: readonly string[]; readonly stop: () => void }>;
  readonly size: { readonly columns: number; readonly rows: number };
}

export const PICTURES: readonly Picture[];
export function draw(picture: Picture): Promise<string>;
