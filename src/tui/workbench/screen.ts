import { openPages } from '../../events/exchange.js';
import { quote, say } from '../../render/line.js';
import { widthOf } from '../../render/terminal/fit.js';
import { REDACTED, safeJson } from '../../util/redact.js';
import { nearest, suggestion, truncate } from '../../util/text.js';
import { MADE_CALL_TABS, TOOL_TABS } from '../calls/tabs.js';
import { fullScreen } from '../full-screen.js';
import { bind, Keys } from '../keys.js';
import { LIST_KEYS, READING_KEYS, tabKeys, unlessEmpty } from '../list-screen.js';
import { Picker } from '../picker.js';
import { openChoice } from './calls.js';
import { Form } from './form/form.js';
import {
  definitionsText,
  type Sent,
  type Server,
  type SessionOptions,
  type ShellLine,
  toolsOf,
  type WorkbenchOptions,
} from './model.js';
import { entryKey } from './tools.js';
import { WorkbenchPages } from './workbench.js';

type Sending = WorkbenchPages['sending'][number];

type ServerTool = Parameters<WorkbenchPages['openForm']>[0];

function toolsNamed(servers: readonly Server[], operation: string): readonly ServerTool[] {
  return servers.flatMap(server => {
    const tool = toolsOf(server).find(({ name }) => name === operation);
    return tool ? [{ server, tool }] : [];
  });
}

/** The workbench with the actions on operations and calls, opened as the command line requests. */
export class Workbench extends WorkbenchPages {
  protected readonly keys: Keys<Workbench> = WORKBENCH_KEYS;
  readonly #start: SessionOptions['start'];
  /** The requested operation was found, or is not offered. */
  #isStarted: boolean;

  constructor(options: SessionOptions, onChange: () => void) {
    super(options, onChange);
    this.#start = options.start;
    const { operation, transcript } = options.start;
    this.#isStarted = operation === undefined;
    if (transcript !== undefined) void this.submit(this.transcriptPrompt, transcript);
  }

  /** Must be called after changes of servers. Opens the requested form as soon as its operation is known, unless a key was pressed. */
  changed(): void {
    this.onChange();
    this.showRestarts();
    const { operation, server, arguments: read } = this.#start;
    if (this.#isStarted || operation === undefined) return;
    const servers = this.model.servers.filter(({ id }) => server === undefined || id === server);
    const [match] = toolsNamed(servers, operation);
    this.#isStarted = match !== undefined || areLoaded(servers);
    if (!match && this.#isStarted) this.#suggest(operation, servers);
    if (!match) return;
    this.openForm(match, { given: read?.(match.tool.inputSchema), isShown: !this.isPressed });
    if (this.isPressed)
      this.say(`${match.tool.name} of ${match.server.about} is ready: its form is in Tools.`, 'good');
  }

  /** Moves the arguments into the form of the operation that was probably meant. */
  #suggest(wanted: string, servers: readonly Server[]): void {
    const { arguments: read } = this.#start;
    const similar = nearest(
      wanted,
      servers.flatMap(each => toolsOf(each).map(({ name }) => name)),
    );
    const [match] = toolsNamed(servers, similar[0] ?? '');
    if (match && !this.isPressed) this.tools.set({ selected: entryKey(match.server.id, match.tool.name) });
    if (match && read) this.openForm(match, { given: read(match.tool.inputSchema), isShown: false });
    this.complain([`No operation "${wanted}" is offered.`, suggestion(similar)].filter(Boolean).join(' '));
  }

  enterEntry(): void {
    const { entry } = this.tools;
    if (!entry) return;
    const { server, tool, definitions } = entry;
    if (tool && definitions === 1) this.openForm({ server, tool });
    else if (tool)
      this.complain(`${tool.name}: ${definitionsText(definitions)}. Press u to open one by its URL.`);
    else if (server.state.kind !== 'loading') this.controls.load(server.id);
  }

  removeServer(): void {
    const { tools } = this;
    const { entry, selected } = tools;
    if (!entry || entry.tool || entry.server.state.kind !== 'failed')
      return void this.complain('Only a server that could not be reached can be removed. Select one.');
    tools.move(1);
    if (tools.selected === selected) tools.move(-1);
    this.controls.remove(entry.server.id);
  }

  /** Sends the form; shows invalid arguments at their fields. @param validates against the `inputSchema` */
  runForm(validates = true): void {
    const { form } = this;
    if (!form || this.isSending(form)) return;
    this.forgetKey();
    const args = form.form.arguments(validates);
    if (!args.ok) this.changeForm(form, () => args.form);
    else if (validates && isRedacted(args.value))
      this.complain(`Not sent: ${REDACTED} replaces a secret. Press Ctrl-T to send it as it is.`);
    else {
      const { server, operation } = form;
      this.#place({ draft: { server, operation, arguments: args.value }, validates, from: form });
    }
  }

  #place(sending: Sending): void {
    const { server: id, operation } = sending.draft;
    if (this.controls.needsConsent(id, operation)) this.#askConsent(sending);
    else void this.#send(sending);
  }

  /** Asks whether to call a destructive operation. The default is not to. */
  #askConsent(sending: Sending): void {
    const { server, operation, arguments: args } = sending.draft;
    const about = this.model.servers.find(({ id }) => id === server)?.about ?? '';
    const decline = async () => {
      const { text, isBad } = await this.controls.decline(sending.draft);
      const again = isRerun(sending) ? 'r' : 'Ctrl-R';
      this.report({ text: `${nameOf(operation)}: ${text}. Press ${again}, then 0, to call it.`, isBad });
    };
    const prompt = [
      `${nameOf(operation)} is marked destructive. Call it?`,
      `At ${nameOf(about)}, with ${truncate(safeJson(args), MAX_LENGTH.arguments)}`,
    ];
    this.show({
      kind: 'question',
      picker: new Picker({ prompt: prompt.join('\n'), choices: ['Call it', 'Do not call it'], default: 1 }),
      onPick: selected => void (selected === 0 ? this.#send(sending, true) : decline()),
      onEscape: decline,
      escapeHint: 'do not call it',
    });
  }

  /** Sends a draft, then shows its call, or the faults in its form. If the user has moved on, only shows a notice. */
  async #send(sending: Sending, isAgreed = false): Promise<void> {
    const { draft, validates, from } = sending;
    this.sending = [...this.sending, sending];
    const watch = this.watchPlace();
    const sent = await this.controls.run(draft, { validates, isAgreed });
    const isHere = watch();
    this.sending = this.sending.filter(each => each !== sending);
    if (sent.kind === 'invalid') this.changeForm(from, form => form.withFaults(sent.faults, isHere));
    if (sent.kind !== 'sent')
      this.complain(`${isHere ? '' : `${draft.operation}: `}${reasonOf(sent, sending)}`);
    else if (isHere) this.#showSent(sent.key);
    else this.say(`${draft.operation} was sent: see Calls.`, 'good');
  }

  /** Resets the form of an edited call after sending. */
  #showSent(key: string): void {
    if (this.form && this.form.about !== null) {
      this.forgetForm(this.form);
      this.form = null;
    }
    this.calls.set({ tab: 'result' });
    this.showCalls(0, key);
  }

  /** Sends the selected call again: to the same server, with the same arguments, validated or not, in a new thread. */
  runAgain(): void {
    const call = this.#selectedCall();
    if (!call) return;
    const { exchange, target, mismatch, name, validates } = call;
    const { operation, arguments: args } = exchange.invocation;
    const draft = { server: target.server.id, operation, arguments: args };
    if (this.isSending(name)) this.complain('Not run: it is being sent already.');
    else if (mismatch !== null)
      this.complain(`Not run: ${mismatch} Press e to open its form at ${target.server.about}.`);
    else if (call.isRedacted)
      this.complain(`Not run: ${REDACTED} replaces a secret. Press e to edit the arguments.`);
    else this.#place({ draft, validates, from: name });
  }

  /** Opens the form of the selected call's operation with its arguments, at another server if necessary. */
  editAgain(): void {
    const call = this.#selectedCall();
    if (!call) return;
    const { exchange, target, mismatch, name } = call;
    this.openForm(target, { given: exchange.invocation.arguments, about: name });
    const notes = [
      ...(mismatch === null ? [] : [`This is the form of ${target.server.about}: ${mismatch}`]),
      ...(call.isRedacted ? [`${REDACTED} replaces a secret: type it in.`] : []),
    ];
    if (notes.length > 0) this.complain(notes.join(' '));
  }

  /** The selected call and the server to send it to; shows a message without one. */
  #selectedCall() {
    const { exchange, source, model } = this;
    if (!exchange) {
      this.complain('No call to run again.');
      return null;
    }
    const { operation, arguments: args } = exchange.invocation;
    const matches = toolsNamed(model.servers, operation);
    const id = source.isLive ? model.serverOf(exchange.key) : null;
    const owners = matches.filter(({ server: { id: own, state } }) => {
      if (source.isLive) return own === id;
      return state.kind === 'ready' && state.toolset.endpoint === exchange.endpoint;
    });
    const destructive = owners.find(({ tool }) => tool.annotations?.destructive === true);
    const target = destructive ?? owners[0] ?? matches[0];
    const { unavailable } = this;
    if (!target) {
      this.complain(unavailable ?? `No open tool server offers ${operation}. Press u to open one.`);
      return null;
    }
    return {
      exchange,
      target,
      /** Why this may be another server than that of the call; null if it is the same one. */
      mismatch: owners.length === 0 && unavailable ? `${unavailable}.` : mismatchOf(owners.length),
      name: `${source.id} ${exchange.key}`,
      validates: !(source.isLive && model.isUnvalidated(exchange.key)),
      /** Transcripts do not contain the secrets that were sent. */
      isRedacted: !source.isLive && isRedacted(args),
    };
  }

  /** Shows a tool's question (of the selected call, else the oldest one) and selects its call. */
  answerQuestion(): void {
    const { source, calls, model } = this;
    const live = model.sources[0];
    const open = live && openChoice(source.isLive ? calls.selected : null, live.callLog);
    if (!open) return void this.complain('No tool is waiting for an answer.');
    const { key, leg, question } = open;
    const operation = live.callLog.history.exchanges.get(key)?.invocation.operation ?? '';
    const asker = [...quote(operation, 'title'), say(' asks in ', 'dim'), ...quote(question.id)];
    if (source !== live || calls.selected !== key) this.showCalls(live.id, key);
    else calls.set({ selected: key });
    this.show({
      kind: 'question',
      picker: new Picker(question).askedBy(asker),
      onPick: selected => {
        const said = this.controls.answer(key, leg, selected);
        if (said) this.report(said);
      },
      escapeHint: 'later',
    });
  }

  async cancelCall(): Promise<void> {
    const { exchange, source } = this;
    if (!exchange) return this.complain('No call to cancel.');
    if (!source.isLive) return this.complain('Calls in a transcript cannot be canceled.');
    this.report(await this.controls.cancel(exchange.key));
  }

  async useConsentPage(how: 'visit' | 'copy'): Promise<void> {
    const { exchange, source, controls } = this;
    const [page] = exchange && source.isLive ? openPages(exchange) : [];
    if (!page) this.complain('The call is not waiting for consent.');
    else if (how === 'copy') this.#copy(page.auth_url, null);
    else this.report(await controls.visit(page.auth_url));
  }

  copyCall(how: 'curl' | 'command'): void {
    const { controls, calls, source } = this;
    const key = calls.selected;
    if (key === null) return void this.complain('No call to copy.');
    const curl = controls.asCurl(key, source.id);
    const line = how === 'curl' ? curl : controls.asCommand(key, source.id);
    if (!line) this.complain('Nothing to copy: the call was not sent.');
    else if (!('isBad' in line)) this.#copy(line.text, line.gaps);
    else if (curl) this.complain(`${line.text}. Press y to copy it as curl.`);
    else this.report(line);
  }

  /** Copies a text and shows it: not every terminal supports clipboard access. @param gaps null unless the text is a command */
  #copy(text: string, gaps: ShellLine['gaps'] | null): void {
    const { text: said, isBad } = this.controls.copy(text);
    const missing = gaps?.length ? [say('; fill in: ', 'warn'), ...quote(gaps.join(', '), 'warn')] : [];
    const shown = truncate(text, MAX_LENGTH.copied);
    this.show({
      kind: 'page',
      title: [say(said, isBad ? 'bad' : 'good'), ...missing],
      lines: columns => (gaps ? shellRows(shown, columns) : [shown]).map(line => quote(line)),
      scroll: 0,
    });
  }
}

/**
 * Splits a POSIX shell command into rows that can be pasted as the same command: a row that ends in a backslash continues in the next one.
 * Splits between words, and within words that are wider than a row.
 * @param text its words are plain, single-quoted, or escaped by backslashes; its line breaks are kept
 */
function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(2, columns - 2);
  // Single-quoted text has no escapes; elsewhere a backslash belongs to the next character.
  const atoms = text.match(/'[^']*'?|\\[\s\S]|[^']/gu) ?? [];
  const rows: string[] = [];
  let row = '';
  let gap = 0;
  let isQuoted = false;
  for (const atom of atoms.flatMap(each => (each.startsWith("'") ? [...each] : [each]))) {
    if (!atom.endsWith('\n') && widthOf(quote(row + atom)) > room) {
      const quotes = gap === 0 && isQuoted ? "'" : '';
      const end = gap || row.length;
      rows.push(`${row.slice(0, end)}${quotes}\\`);
      [row, gap] = [quotes + row.slice(end), 0];
    }
    row += atom;
    if (atom === ' ' && !isQuoted && row.trim() !== '') gap = row.length;
    isQuoted = isQuoted !== (atom === "'");
    if (atom.endsWith('\n')) {
      rows.push(row.slice(0, -1));
      [row, gap] = ['', 0];
    }
  }
  return [...rows, row];
}

function areLoaded(servers: readonly Server[]): boolean {
  const kinds = servers.map(({ state }) => state.kind);
  return kinds.includes('ready') && kinds.every(kind => kind === 'ready' || kind === 'failed');
}

function isRedacted(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}

/** Maximum length of the texts shown, in characters; the screen counts the rows that do not fit. */
const MAX_LENGTH = { name: 200, arguments: 4_000, copied: 20_000 };

/** An untrusted name must not look like a line of the program. */
function nameOf(text: string): string {
  return truncate(text, MAX_LENGTH.name).replaceAll('\n', '␊');
}

function isRerun({ from }: Sending): boolean {
  return typeof from === 'string';
}

function reasonOf(sent: Exclude<Sent, { kind: 'sent' }>, sending: Sending): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRerun(sending) ? 'Press e to edit them.' : 'Press Ctrl-T to send them as they are.';
  return `Not sent: the arguments do not match the inputSchema. ${next}`;
}

function mismatchOf(owners: number): string | null {
  if (owners === 1) return null;
  return owners === 0
    ? 'its own tool server does not offer it now.'
    : `${owners} open tool servers have its endpoint.`;
}

function enterHint({ tools: { entry }, page }: Workbench): string | null {
  if (!entry || page !== 'tools') return null;
  if (entry.tool) return entry.definitions > 1 ? null : 'fill in';
  return { loading: null, unstarted: 'start', failed: 'retry', ready: 'reload' }[entry.server.state.kind];
}

function removeHint({ tools: { entry } }: Workbench): string | null {
  return entry?.tool === null && entry.server.state.kind === 'failed' ? 'remove' : null;
}

function restartHint({ tools: { entry } }: Workbench): string | null {
  return entry?.tool === null && entry.server.output ? 'restart' : null;
}

function restartCallHint({ serverOfCall }: Workbench): string | null {
  return serverOfCall?.state.kind === 'failed' ? 'restart' : null;
}

const onTools =
  (hint: string) =>
  ({ page }: Workbench) =>
    page === 'tools' ? hint : null;

const bound = bind<Workbench>;

/** What `TextInput` and the screen do with keys in a prompt. */
const PROMPT_KEYS = [
  ['tab', 'complete a path, or list the candidates'],
  ['left right', 'a character to the left, or to the right'],
  ['home ctrl+a', 'to the start'],
  ['end ctrl+e', 'to the end'],
  ['erase', 'erase a character'],
  ['ctrl+w', 'erase a word'],
  ['ctrl+u', 'erase up to the start'],
  ['enter', 'accept'],
  ['escape ctrl+c', 'cancel'],
].map(([keys = '', does = '']) => bound('prompt', keys, does, () => {}));

/** A key of calls that wait for it. */
function whileWaiting(
  what: keyof Workbench['waits'],
  key: string,
  does: string,
  hint: string,
  run: (workbench: Workbench) => void,
) {
  return bound('calls', key, does, run, ({ waits }) => (waits[what] ? hint : null), true);
}

export const WORKBENCH_KEYS = new Keys<Workbench>([
  ...Form.keys.map(([key, does]) => bound('form', key, does, w => w.pressForm({ name: key, text: '' }))),
  bound(
    'everywhere',
    't',
    'tools and their operations',
    w => w.go('tools'),
    ({ page, list }) => (page === 'calls' && !list.isReading ? 'tools' : null),
  ),
  bound('everywhere', 'c', 'calls and their outcomes', w => w.go('calls'), onTools('calls')),
  bound('everywhere', 'escape', 'back', w => w.back()),
  bound(
    'everywhere',
    'u',
    'open a tool server by its URL',
    w => w.openPrompt(w.serverPrompt),
    onTools('open a URL'),
  ),
  bound(
    'everywhere',
    'D',
    'open the demo, a tool bundled with this program',
    w => void w.openServer('demo'),
    w => (w.tools.isEmpty && w.page === 'tools' ? 'demo' : null),
  ),
  bound(
    'everywhere',
    'p',
    'open a recent tool server',
    w => w.pickRecent(),
    w => (w.tools.isEmpty && w.page === 'tools' && w.model.recent.length > 0 ? 'recent' : null),
  ),
  bound('everywhere', 'O', 'open a transcript', w => w.openPrompt(w.transcriptPrompt)),
  bound('everywhere', 'S', 'save the transcript of this session', w => w.askSaveTranscript()),
  bound('everywhere', '?', 'show or hide the keys', w => w.toggleHelp()),
  bound('everywhere', 'q ctrl+c', 'quit: pending calls are canceled', w => w.quit()),
  bound('tools', 'enter', 'open the form; on a server: start or reload it', w => w.enterEntry(), enterHint),
  bound('tools', 'x', 'remove a server that could not be reached', w => w.removeServer(), removeHint),
  bound('tools', 'R', 'restart the server', w => w.restartServer(), restartHint),
  ...tabKeys('tools', TOOL_TABS),
  ...LIST_KEYS,
  whileWaiting('forChoice', 'a', "answer the tool's question", 'answer', w => w.answerQuestion()),
  whileWaiting('forConsent', 'o', 'open the consent page', 'consent page', w => w.useConsentPage('visit')),
  whileWaiting('isRunning', 'x', 'cancel the call, or its subscription', 'cancel', w => w.cancelCall()),
  bound('calls', 'U', 'copy the URL of the consent page', w => w.useConsentPage('copy')),
  ...tabKeys('calls', MADE_CALL_TABS),
  bound('calls', 'R', 'restart the server of the call', w => w.restartServerOfCall(), restartCallHint),
  bound('calls', 'r', 'run the call again', w => w.runAgain(), unlessEmpty('run again')),
  bound('calls', 'e', 'edit it and run it again', w => w.editAgain(), unlessEmpty('edit')),
  bound('calls', 'y', 'copy as curl', w => w.copyCall('curl'), unlessEmpty('curl')),
  bound('calls', 'Y', 'copy as a command line', w => w.copyCall('command')),
  bound('calls', 's', 'save as a fixture', w => w.askSaveFixture(), unlessEmpty('fixture')),
  bound('calls', '=', 'compare: marks this call, or shows it beside the marked one', w => w.compare()),
  bound('calls', 'V', 'the next open transcript', w => w.nextSource()),
  ...READING_KEYS,
  bound('form', 'ctrl+t', 'run with invalid arguments', w => w.runForm(false)),
  bound('form', 'ctrl+g', 'show or hide the keys', w => w.toggleHelp()),
  bound('form', 'escape', 'back; keeps the input', w => w.back()),
  ...PROMPT_KEYS,
]);

export function workbenchScreen(options: WorkbenchOptions): { close(): Promise<void> } {
  const { view, close } = fullScreen(onChange => new Workbench(options, onChange), options);
  const stop = options.onModelChange(() => view.changed());
  view.changed();
  return {
    close() {
      stop();
      return close();
    },
  };
}
