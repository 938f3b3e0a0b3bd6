import { render } from 'ink';
import { beforeForcedEnd } from '../../system/forced-end.js';
import { unbounded } from '../terminal.js';
import { App, type AppProps } from './app.js';

interface View {
  close(): Promise<void>;
}

/** Draws what the store holds, with Ink, until it is closed, or this process is ended by force. */
export function inkView(
  props: AppProps,
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
): View {
  const view = render(<App {...props} />, {
    stdin,
    stdout: unbounded(stdout),
    exitOnCtrlC: false,
    patchConsole: false,
  });
  const forget = beforeForcedEnd(() => view.unmount());
  return {
    async close() {
      const over = view.waitUntilExit();
      view.unmount();
      await over;
      forget();
    },
  };
}
