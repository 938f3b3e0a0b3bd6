/** A promise and its resolve function, as `Promise.withResolvers` returns them. */
export function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>(keep => {
    resolve = keep;
  });
  return { promise, resolve };
}
