import { Content } from '../../exchange/content.js';
import { isRecord } from '../../text/is-record.js';
import { readJson } from '../../text/json.js';
import { RecentMap } from '../../text/recent-map.js';
import { CANCELLED, THREAD_CLOSED } from '../conversation/calling-off.js';
import { DEFAULTS } from '../defaults.js';
import { wasStopped } from '../delivery/callback.js';
import { Counters } from './counters.js';
import type { JournalLine } from './journal-format.js';
import { OpenCall } from './open-call.js';
import type { DamagedLine, Recovery, Settled } from './recovery.js';

type Line<K extends JournalLine['kind']> = Extract<JournalLine, { kind: K }>;

/** Reads a journal line by line into what is left to do. Its memory grows with the calls that are open, not with the file. */
export class Fold {
  readonly #open = new Map<string, OpenCall>();
  readonly #settled = new RecentMap<string, Settled>(DEFAULTS.journalCalls);
  readonly #counters = new Counters();
  #body: Content | null = null;

  recovery(tornBytes: number, damaged: readonly DamagedLine[]): Recovery {
    const calls = [...this.#open.values()];
    for (const call of calls) call.complete();
    const settled = [...this.#settled.values()];
    return { calls, matched: this.#counters.facts(), settled, tornBytes, damaged };
  }

  take(line: JournalLine): void {
    switch (line.kind) {
      case 'body':
        this.#body = new Content(Buffer.from(line.data, line.encoding));
        break;
      case 'settled':
        this.#remember(line);
        break;
      case 'reset':
        this.#reset(line.key);
        break;
      case 'begun':
        for (const call of this.#open.values()) call.nextRun();
        break;
      case 'matched':
        this.#counters.take(line);
        this.#each(line, call => call.isMatched(line));
        break;
      case 'warned':
        this.#each(line, call => call.warned(line.message));
        break;
      case 'decided':
        if (line.what === 'cancel') this.#each(line, call => this.#callOff(call, String(line.value)));
        break;
      case 'request':
        this.#request(line);
        break;
      case 'response':
        this.#each(line, call => this.#response(call, line));
        break;
      case 'dropped':
        this.#each(line, call => this.#dropped(call, line));
        break;
      case 'planned':
        this.#each(line, call => this.#planned(call, line));
        break;
      default:
    }
  }

  #each({ calls = [] }: { readonly calls?: string[] | undefined }, act: (call: OpenCall) => void): void {
    for (const key of calls) {
      const call = this.#open.get(key);
      if (call) act(call);
    }
  }

  #request(line: Line<'request'>): void {
    const { purpose, url, leg, attempt, headers, body, turn, thread } = line;
    const bytes = this.#bytesOf(body?.sha256);
    if (purpose === 'invocation') this.#invocation(line, bytes);
    if (purpose === 'cancel') this.#each(line, call => this.#callOff(call, CANCELLED));
    if ((purpose === 'close' || purpose === 'migrate') && thread !== undefined) this.#closeThread(thread);
    if (purpose !== 'callback' || !body) return;
    const { sha256 } = body;
    const contentType = headers['content-type'] ?? '';
    this.#each(line, call => call.posted({ url, contentType, leg, attempt, sha256, turn, body: bytes }));
  }

  /** The line before carries them, or they were carried before. */
  #bytesOf(sha256: string | undefined): Content | null {
    const body = this.#body;
    this.#body = null;
    return body && body.sha256 === sha256 ? body : null;
  }

  /** A repeat of a call that is over, or is open, begins nothing. */
  #invocation({ calls: [key] = [], thread = '', headers, leg }: Line<'request'>, body: Content | null): void {
    if (key === undefined || !body || this.#open.has(key)) return;
    if (this.#settled.get(identityOf(settledAs(thread, body)))) return;
    this.#open.set(key, new OpenCall(key, thread, body, headers, leg));
  }

  #response(call: OpenCall, { leg, status }: Line<'response'>): void {
    if (call.leg === leg && status !== 200) this.#open.delete(call.key); // refused: its runtime sends it again, or never
    const posting = call.postingOf(leg);
    if (!posting || status >= 300) return;
    posting.state = 'delivered';
    this.#settleWhenOver(call);
  }

  #dropped(call: OpenCall, { what, why, leg, ...message }: Line<'dropped'>): void {
    if (wasStopped(why) || what === 'event') return;
    const posting = call.postingOf(leg);
    if (posting) posting.state = 'dropped';
    else call.said(message);
    if (what === 'invocation') this.#settle(call);
    else this.#settleWhenOver(call);
  }

  /** What is planned may mean that nothing comes, or the same twice. */
  #planned(call: OpenCall, { plan, ...message }: Line<'planned'>): void {
    if (plan === 'silence') this.#settle(call);
    if (plan === 'duplicate') call.isDoubled(message);
    if (plan !== 'drop') return;
    call.said(message);
    this.#settleWhenOver(call);
  }

  #callOff(call: OpenCall, reason: string): void {
    call.callOff(reason);
    this.#settleWhenOver(call);
  }

  #closeThread(thread: string): void {
    this.#counters.reset(thread);
    for (const call of [...this.#open.values()])
      if (call.thread === thread) this.#callOff(call, THREAD_CLOSED);
  }

  #settleWhenOver(call: OpenCall): void {
    if (call.isOver) this.#settle(call);
  }

  #settle(call: OpenCall): void {
    this.#open.delete(call.key);
    this.#remember(settledAs(call.thread, call.invocation));
  }

  #remember({ groupId, id, sha256 }: Settled): void {
    const settled = { groupId, id, sha256 };
    this.#settled.set(identityOf(settled), settled);
  }

  #reset(key: string | undefined): void {
    if (key !== undefined) this.#counters.reset(key);
    else {
      this.#counters.clear();
      this.#settled.clear();
    }
  }
}

/** A malformed invocation may have no id; it is recognised by its bytes all the same. */
function settledAs(groupId: string, { bytes, sha256 }: Content): Settled {
  const json = readJson(bytes);
  const id = json.ok && isRecord(json.value) ? json.value['id'] : undefined;
  return { groupId, id: typeof id === 'string' ? id : '', sha256 };
}

function identityOf({ groupId, id, sha256 }: Settled): string {
  return JSON.stringify([groupId, id, sha256]);
}
