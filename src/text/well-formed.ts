/** A lone surrogate has no UTF-8 form; it goes out as U+FFFD (the contract, "Output"). */
export function toWellFormed(text: string): { readonly text: string; readonly replaced: boolean } {
  const formed = text.toWellFormed();
  return { text: formed, replaced: formed !== text };
}
