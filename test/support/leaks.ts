/** What Node takes for a leak: too many listeners of one signal. */
export function leaks() {
  const messages: string[] = [];
  const onWarning = ({ name, message }: Error) => {
    if (name === 'MaxListenersExceededWarning') messages.push(message);
  };
  process.on('warning', onWarning);
  return {
    /** A warning is reported a turn later. */
    warnings: async () => {
      await new Promise(setImmediate);
      return messages;
    },
    [Symbol.dispose]: () => void process.off('warning', onWarning),
  };
}
