/** Longer than any timer of Node takes. */
const LONG_MS = 2 ** 30;

/** Keeps the process where nothing else does: somebody waits for what may never come. Returns how to let it go. */
export function holdOpen(): () => void {
  const timer = setInterval(() => {}, LONG_MS);
  return () => clearInterval(timer);
}
