/** What a callback means for its exchange, and the status it is answered with. */
export type Verdict =
  /** The result of the pending call. */
  | { readonly kind: 'settles'; readonly status: 200 }
  /** A question to the user: the call stays pending (RT-PENDING). */
  | { readonly kind: 'holds'; readonly status: 200 }
  /** An event or a view: taken in, ends nothing. */
  | { readonly kind: 'noted'; readonly status: 200 }
  /** Too many questions are open. */
  | { readonly kind: 'ignored'; readonly status: 200; readonly reason: string }
  /** A further result: the first wins (RT-DUP). */
  | { readonly kind: 'duplicate'; readonly status: 200; readonly identical: boolean }
  /** It came after we had stopped waiting. */
  | { readonly kind: 'late'; readonly status: 200 }
  /** It names another call (RT-MATCH). */
  | { readonly kind: 'discarded'; readonly status: 404; readonly reason: string }
  /** It is not a callback at all (RT-VALIDATE), or the listener's guard refused it. */
  | { readonly kind: 'rejected'; readonly status: number; readonly reason: string };

export type VerdictKind = Verdict['kind'];
