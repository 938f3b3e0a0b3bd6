import { openUrl } from '../../system/open-url.js';
import { isPlainHeader, type Redactor } from '../../text/redact.js';
import type { Controls, Said, ShellLine } from '../../ui/workbench/controls.js';
import { asUrl, type ServerTarget, type Target } from '../target.js';
import { asCommand, type CalledAs } from './as-command.js';
import { asCurl } from './as-curl.js';
import type { Caller } from './caller.js';
import { copyTo } from './clipboard.js';
import type { Library } from './library.js';
import { pathsFrom, type Whereabouts } from './paths.js';
import { done, failed, reasonOf, saying } from './said.js';
import { type SentCall, sentCall } from './sent.js';
import type { Shelf } from './shelf.js';

/** Who does what a person wants. */
export interface Staff {
  readonly shelf: Shelf;
  readonly caller: Caller;
  readonly library: Library;
  readonly redactor: Redactor;
  readonly terminal: Whereabouts & { readonly stdout: Pick<NodeJS.WritableStream, 'write'> };
  readonly onQuit: () => void;
}

/** What a person can make happen, each by whoever it belongs to. */
export function controlsOf({ shelf, caller, library, redactor, terminal, onQuit }: Staff): Controls {
  const sentIn = (key: string, volume: number) => {
    const { book } = library.volumes[volume] ?? {};
    return book ? sentCall(book, key, redactor) : null;
  };
  const calledIn = (key: string, volume: number) => (volume === 0 ? caller.calledAs(key) : null);
  return {
    open: text => opened(text, target => void shelf.add(target, { isConfigured: false, hasKeys: false })),
    wake: id => shelf.wake(id),
    needsConsent: (server, operation) => caller.needsConsent(server, operation),
    check: draft => caller.check(draft),
    run: (draft, options) => caller.run(draft, options),
    decline: draft => saying(() => caller.decline(draft)),
    answer: (key, leg, selected) => caller.answer(key, leg, selected),
    cancel: key => saying(() => caller.cancel(key)),
    visit,
    asCurl(key, volume) {
      const sent = sentIn(key, volume);
      return sent && asCurl(sent, calledIn(key, volume)?.groupId ?? null, redactor);
    },
    asCommand(key, volume) {
      const sent = sentIn(key, volume);
      const called = calledIn(key, volume);
      return (
        sent && lineOf(sent, called ?? { target: placeIn(library, volume, sent), groupId: null }, redactor)
      );
    },
    copy: text => copyTo(terminal.stdout, text),
    saveFixture: (key, volume, path) => saying(() => library.saveFixture(key, volume, path)),
    saveTranscript: path => saying(() => library.saveTranscript(path)),
    openTranscript: path => saying(() => library.open(path)),
    paths: typed => pathsFrom(typed, terminal),
    quit: onQuit,
  };
}

/** Null, too, where a secret stands in what nobody could fill in: without it the line would mean something else. */
function lineOf({ request, invocation }: SentCall, called: CalledAs, redactor: Redactor): ShellLine | null {
  const named = [placeNamed(called.target), called.groupId ?? ''];
  if (named.some(text => redactor.text(text) !== text)) return null;
  const headers = Object.keys(request.headers).filter(name => !isPlainHeader(name));
  const text = asCommand({ ...called, invocation, headers });
  return text === null ? null : { text, gaps: headers };
}

function placeNamed(target: Target): string {
  if (target.kind === 'demo') return '';
  return target.kind === 'command' ? target.command : target.url;
}

/** Where a call of a transcript went: the server whose toolset named that endpoint, else the endpoint alone. */
function placeIn({ volumes }: Library, volume: number, { request: { url } }: SentCall): Target {
  const loaded = volumes[volume]?.book.history.toolsets.findLast(({ endpoint }) => endpoint === url);
  return loaded?.base ? { kind: 'url', url: loaded.base } : { kind: 'endpoint', url };
}

/** What a person types: `demo`, a URL, `:port`. */
function opened(text: string, add: (target: ServerTarget) => void): Said | null {
  const word = text.trim();
  try {
    const url = word === 'demo' ? null : asUrl(word);
    if (url === null && word !== 'demo')
      return failed('this is no URL: a server is http://host:port, :port, or demo');
    add(url === null ? { kind: 'demo' } : { kind: 'url', url });
    return null;
  } catch (error) {
    return failed(reasonOf(error));
  }
}

async function visit(url: string): Promise<Said> {
  const opening = await openUrl(url);
  if (opening.ok) return done('opened in the browser');
  return failed(`it could not be opened (${opening.reason}): visit it yourself`);
}
