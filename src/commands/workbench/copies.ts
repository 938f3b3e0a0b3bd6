import { isPlainHeader, redactHeaders } from '../../text/redact.js';
import type { Controls, Said, ShellLine } from '../../ui/workbench/controls.js';
import type { Volume } from '../../ui/workbench/world.js';
import { gapsIn } from '../invoke/dry-request.js';
import type { Target } from '../target.js';
import { asCommand, type CalledAs } from './as-command.js';
import { asCurl } from './as-curl.js';
import type { Ledger } from './ledger.js';
import type { Library } from './library.js';
import { failed } from './said.js';
import { type SentCall, sentCall } from './sent.js';
import { wentUnvalidated } from './went-unvalidated.js';

/** Where calls are, and what must not be copied of them. */
interface Archive {
  readonly library: Library;
  readonly ledger: Ledger;
}

/** Calls as commands for a shell. */
export function copiesOf({ library, ledger }: Archive): Pick<Controls, 'asCurl' | 'asCommand'> {
  const foundIn = (key: string, id: number) => {
    const volume = library.volume(id);
    const sent = volume && sentCall(volume, key);
    return sent ? { sent, volume, called: volume.isLive ? ledger.calledAs(key) : null } : null;
  };
  return {
    asCurl(key, id) {
      const found = foundIn(key, id);
      return found && asCurl(found.sent, (found.called?.groupId ?? null) !== null);
    },
    async asCommand(key, id) {
      const found = foundIn(key, id);
      if (!found) return failed('nothing of this call was sent that could be copied');
      const { sent, volume, called } = found;
      return lineOf(sent, called ?? (await calledIn(volume, key, sent)));
    },
  };
}

/** How a call of a transcript was meant, as far as that tells. */
async function calledIn(volume: Volume, key: string, sent: SentCall): Promise<CalledAs> {
  const target = placeIn(volume, sent);
  const validates = target.kind === 'endpoint' || !(await wentUnvalidated(volume.book, key));
  return { target, groupId: null, validates };
}

/** None, too, where a secret stands in what nobody could fill in: without it the line would mean something else. */
function lineOf({ request, invocation, redactor }: SentCall, called: CalledAs): ShellLine | Said {
  const isSecret = (text: string | null) => text !== null && redactor.text(text) !== text;
  if (isSecret(placeNamed(called.target))) return noLine('a secret is in the name of its server');
  if (isSecret(called.groupId)) return noLine('a secret is in the name of its thread');
  const { arguments: args, user_id, thread_ancestors } = invocation;
  const gaps = gapsIn({
    headers: redactHeaders(request.headers),
    body: { arguments: args, user_id, thread_ancestors },
  });
  const headers = Object.keys(request.headers).filter(name => !isPlainHeader(name));
  const said = asCommand({ ...called, invocation, headers });
  return said.ok ? { text: said.line, gaps } : noLine(said.why);
}

function noLine(why: string): Said {
  return failed(`no line of this program is the same call: ${why}`);
}

function placeNamed(target: CalledAs['target']): string {
  if (target.kind === 'demo' || target.kind === 'mcp') return '';
  return target.kind === 'command' ? target.command : target.url;
}

/** Where a call of a transcript went: the server whose toolset named that endpoint, else the endpoint alone. */
function placeIn({ book }: Volume, { url }: SentCall): Target {
  const loaded = book.history.toolsets.findLast(({ endpoint }) => endpoint === url);
  return loaded?.base ? { kind: 'url', url: loaded.base } : { kind: 'endpoint', url };
}
