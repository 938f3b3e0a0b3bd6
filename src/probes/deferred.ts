/** A promise, and how to keep it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
}

/** What `Promise.withResolvers` gives where there is one. */
export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {};
  const promise = new Promise<T>(keep => {
    resolve = keep;
  });
  return { promise, resolve };
}
