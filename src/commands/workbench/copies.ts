import { isPlainHeader, type Redactor, redactHeaders } from '../../text/redact.js';
import type { Controls, ShellLine } from '../../ui/workbench/controls.js';
import { gapsIn } from '../invoke/dry-request.js';
import type { Target } from '../target.js';
import { asCommand, type CalledAs } from './as-command.js';
import { asCurl } from './as-curl.js';
import type { Caller } from './caller.js';
import type { Library } from './library.js';
import { type SentCall, sentCall } from './sent.js';

/** Where calls are, and what must not be copied of them. */
interface Archive {
  readonly library: Library;
  readonly caller: Caller;
  readonly redactor: Redactor;
}

/** Calls as commands for a shell. */
export function copiesOf({ library, caller, redactor }: Archive): Pick<Controls, 'asCurl' | 'asCommand'> {
  const sentIn = (key: string, volume: number) => {
    const { book } = library.volume(volume) ?? {};
    return book ? sentCall(book, key, redactor) : null;
  };
  const calledIn = (key: string, volume: number) => (volume === 0 ? caller.calledAs(key) : null);
  return {
    asCurl(key, volume) {
      const sent = sentIn(key, volume);
      const groupId = calledIn(key, volume)?.groupId ?? null;
      return sent && asCurl(sent, groupId !== null, redactor);
    },
    asCommand(key, volume) {
      const sent = sentIn(key, volume);
      const called = calledIn(key, volume);
      return (
        sent && lineOf(sent, called ?? { target: placeIn(library, volume, sent), groupId: null }, redactor)
      );
    },
  };
}

/** Null, too, where a secret stands in what nobody could fill in: without it the line would mean something else. */
function lineOf({ request, invocation }: SentCall, called: CalledAs, redactor: Redactor): ShellLine | null {
  const named = [placeNamed(called.target), called.groupId ?? ''];
  if (named.some(text => redactor.text(text) !== text)) return null;
  const { arguments: args, user_id, thread_ancestors } = invocation;
  const gaps = gapsIn({
    headers: redactHeaders(request.headers),
    body: { arguments: args, user_id, thread_ancestors },
  });
  const headers = Object.keys(request.headers).filter(name => !isPlainHeader(name));
  const text = asCommand({ ...called, invocation, headers });
  return text === null ? null : { text, gaps };
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
