/** What a piece of code is in its language. */
export type Role = 'keyword' | 'string' | 'number' | 'comment' | 'type' | 'function' | 'name';

export interface Token {
  readonly text: string;
  /** Null where it is nothing special. */
  readonly role: Role | null;
}
