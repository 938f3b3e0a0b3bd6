/** What a response middleware does, ready to be asked. */
export interface Rules {
  readonly isSecret: (key: string) => boolean;
  readonly sanitize: boolean;
}
