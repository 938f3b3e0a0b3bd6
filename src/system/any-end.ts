import { beforeForcedEnd } from './forced-end.js';

/**
 * Work that is due however this process ends: by itself, by an error, by a second signal, or by a SIGQUIT that nobody else listens
 * to. It may be called more than once. Returns how to take it back.
 */
export function beforeAnyEnd(duty: () => void): () => void {
  const quit = () => {
    duty();
    process.kill(process.pid, 'SIGQUIT');
  };
  const forget = beforeForcedEnd(duty);
  process.once('exit', duty);
  process.once('SIGQUIT', quit);
  return () => {
    forget();
    process.off('exit', duty);
    process.off('SIGQUIT', quit);
  };
}
