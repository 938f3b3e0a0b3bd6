import { bytesText } from '../text/bytes-text.js';

export type RefusalReason =
  | 'host'
  | 'browser'
  | 'no-route'
  | 'method'
  | 'media-type'
  | 'encoding'
  | 'too-large'
  | 'malformed'
  | 'slow'
  | 'busy'
  | 'aborted'
  | 'failed';

/** A request that no handler answered, told to whoever runs the server. Texts are foreign and not yet made visible. */
export interface Refusal {
  /** What was answered; 0 where nobody was left to answer. */
  readonly status: number;
  readonly reason: RefusalReason;
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** One clause for a person. */
  readonly detail: string;
}

/** A decision not to serve a request. */
export class Denial {
  constructor(
    readonly status: number,
    readonly reason: RefusalReason,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export function bodyTooLarge(maxBody: number): Denial {
  return new Denial(413, 'too-large', `its body is larger than ${bytesText(maxBody)}`);
}
