/** What Node takes for a leak: too many listeners of one signal. */
export function leaks() {
  const told: string[] = [];
  const onWarning = ({ name, message }: Error) => {
    if (name === 'MaxListenersExceededWarning') told.push(message);
  };
  process.on('warning', onWarning);
  return {
    /** A warning is reported a turn later. */
    told: async () => {
      await new Promise(setImmediate);
      return told;
    },
    [Symbol.dispose]: () => void process.off('warning', onWarning),
  };
}
