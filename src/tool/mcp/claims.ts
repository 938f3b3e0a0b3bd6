import { isRecord } from '../../text/is-record.js';

type Id = string | number;

type Claim =
  | { readonly ok: true; readonly release: () => void }
  /** The id that is taken. */
  | { readonly ok: false; readonly id: Id };

/** Ids of requests that are being answered, by session: in one, each stands for one request at a time (JSON-RPC 2.0, section 4). */
export class Claims {
  readonly #taken = new Map<string, Set<Id>>();

  /** @param session null where there is none yet, and nothing to be taken */
  claim(session: string | null, message: unknown): Claim {
    const ids = idsIn(message);
    if (session === null || ids.length === 0) return { ok: true, release: () => {} };
    const taken = this.#taken.get(session) ?? new Set();
    const again = ids.find((id, index) => taken.has(id) || ids.indexOf(id) < index);
    if (again !== undefined) return { ok: false, id: again };
    for (const id of ids) taken.add(id);
    this.#taken.set(session, taken);
    return { ok: true, release: () => this.#release(session, ids) };
  }

  #release(session: string, ids: readonly Id[]): void {
    const taken = this.#taken.get(session);
    for (const id of ids) taken?.delete(id);
    if (taken?.size === 0) this.#taken.delete(session);
  }
}

/** Of requests, one or several at once; notifications have none, and answers are none. */
function idsIn(message: unknown): Id[] {
  return [message].flat().flatMap(each => {
    if (!isRecord(each) || !('method' in each)) return [];
    const { id } = each;
    return typeof id === 'string' || typeof id === 'number' ? [id] : [];
  });
}
