import { openUrl } from '../../system/open-url.js';
import type { Controls, Said } from '../../ui/workbench/controls.js';
import { asUrl, type ServerTarget } from '../target.js';
import { answer, cancel, type Ward } from './aftercare.js';
import type { Caller } from './caller.js';
import { copyTo } from './clipboard.js';
import { copiesOf } from './copies.js';
import type { Library } from './library.js';
import { freeName } from './new-file.js';
import { pathsFrom, type Whereabouts } from './paths.js';
import { done, failed, reasonOf, saying } from './said.js';
import type { Shelf } from './shelf.js';

/** Who does what a person wants. */
export interface Staff {
  readonly ward: Ward;
  readonly shelf: Shelf;
  readonly caller: Caller;
  readonly library: Library;
  readonly terminal: Whereabouts & { readonly stdout: Pick<NodeJS.WritableStream, 'write'> };
  readonly onQuit: () => void;
}

/** What a person can make happen, each by whoever it belongs to. */
export function controlsOf({ shelf, caller, ward, library, terminal, onQuit }: Staff): Controls {
  return {
    open: text => opened(text, target => shelf.add(target, { isConfigured: false, hasKeys: false })),
    wake: id => shelf.wake(id),
    dismiss: id => shelf.dismiss(id),
    needsConsent: (server, operation) => caller.needsConsent(server, operation),
    check: draft => caller.check(draft),
    run: (draft, options) => caller.run(draft, options),
    decline: draft => saying(() => caller.decline(draft)),
    answer: (key, leg, selected) => answer(ward, key, leg, selected),
    cancel: key => saying(() => cancel(ward, key)),
    visit,
    ...copiesOf({ library, ledger: ward.ledger }),
    copy: text => copyTo(terminal.stdout, text),
    saveFixture: (key, volume, path) => saying(() => library.saveFixture(key, volume, path)),
    saveTranscript: path => saying(() => library.saveTranscript(path)),
    openTranscript: path => saying(() => library.open(path)),
    freeName: name => freeName(name, terminal.cwd),
    paths: typed => pathsFrom(typed, terminal),
    quit: onQuit,
  };
}

/** What a person types: `demo`, a URL, `:port`. */
function opened(text: string, add: (target: ServerTarget) => string): ReturnType<Controls['open']> {
  const word = text.trim();
  try {
    const url = word === 'demo' ? null : asUrl(word);
    if (url === null && word !== 'demo')
      return failed('this is no URL: a server is http://host:port, :port, or demo');
    return { server: add(url === null ? { kind: 'demo' } : { kind: 'url', url }) };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

async function visit(url: string): Promise<Said> {
  const opening = await openUrl(url);
  if (opening.ok) return done('opened in the browser');
  return failed(`it could not be opened (${opening.reason}): visit it yourself`);
}
