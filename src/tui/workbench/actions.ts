import { canBeGivenUp, type Exchange, openPages } from '../../events/exchange.js';
import type { Tool } from '../../protocol/toolset.js';
import { quote, say } from '../../render/line.js';
import { widthOf } from '../../render/terminal/theme.js';
import { REDACTED, safeJson } from '../../util/redact.js';
import { cut, nearest, suggestion } from '../../util/text.js';
import type { KeyBinding, Press } from '../keys.js';
import { openPicker } from '../picker.js';
import { openChoice } from './calls.js';
import { Form } from './form/form.js';
import {
  type Draft,
  definitionsWords,
  fixtureName,
  type Said,
  type Sent,
  type Server,
  type SessionOptions,
  type ShellLine,
  TRANSCRIPT_NAME,
} from './model.js';
import { entriesOf, entryKey, firstLineOf, toolsOf } from './tools.js';
import { type OpenForm, type Sending, WorkbenchState } from './workbench.js';

interface ServerTool {
  readonly server: Server;
  readonly tool: Tool;
}

function toolsNamed(servers: readonly Server[], operation: string): readonly ServerTool[] {
  return servers.flatMap(server => {
    const tool = toolsOf(server).find(({ name }) => name === operation);
    return tool ? [{ server, tool }] : [];
  });
}

interface FormInput {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  readonly about?: string | null;
  /** False: the form is filled in without being shown. */
  readonly isShown?: boolean;
}

/** The workbench with the actions of its keys, opened as the command line requests. */
export class Workbench extends WorkbenchState {
  readonly #start: SessionOptions['start'];
  /** The requested operation was found, or is not offered. */
  #isStarted: boolean;
  #isPressed = false;

  constructor(
    options: SessionOptions,
    protected readonly bindings: readonly KeyBinding<Workbench>[],
    onChange: () => void,
  ) {
    super(options, onChange);
    this.#start = options.start;
    const { operation, transcript } = options.start;
    this.#isStarted = operation === undefined;
    if (transcript !== undefined) void this.openTranscript(transcript);
  }

  override press(press: Press): void {
    this.#isPressed = true;
    super.press(press);
  }

  /** Must be called after changes of servers. Opens the requested form as soon as its operation is known, unless a key was pressed. */
  changed(): void {
    this.onChange();
    const { operation, server, arguments: read } = this.#start;
    if (this.#isStarted || operation === undefined) return;
    const servers = this.model.servers.filter(({ id }) => server === undefined || id === server);
    const [match] = toolsNamed(servers, operation);
    this.#isStarted = match !== undefined || areLoaded(servers);
    if (!match && this.#isStarted) this.#suggest(operation, servers);
    if (!match) return;
    this.openForm(match, { given: read?.(match.tool.inputSchema), isShown: !this.#isPressed });
    if (this.#isPressed)
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
    if (match && !this.#isPressed) this.tools.set({ selected: entryKey(match.server.id, match.tool.name) });
    if (match && read) this.openForm(match, { given: read(match.tool.inputSchema), isShown: false });
    this.complain([`No operation "${wanted}" is offered.`, suggestion(similar)].filter(Boolean).join(' '));
  }

  /** Opens the form of an operation. A form that was filled in before keeps its values, though its schema may have changed. */
  openForm({ server, tool }: ServerTool, { given, about = null, isShown = true }: FormInput = {}): void {
    const { name, description, inputSchema } = tool;
    const subject = { server: server.id, operation: name, about };
    const known = this.findForm(subject);
    const form = known ? known.form.withSchema(inputSchema) : Form.of(inputSchema, given);
    const id = known?.id ?? Symbol(name);
    this.keepForm({ ...subject, id, form, description: firstLineOf(description) }, isShown);
    if (isShown) this.go('form');
  }

  enterEntry(): void {
    const { entry } = this.tools;
    if (entry?.kind === 'server') {
      if (entry.server.state.kind !== 'loading') this.controls.wake(entry.server.id);
    } else if (entry && entry.definitions > 1)
      this.complain(
        `${entry.tool.name}: ${definitionsWords(entry.definitions)}. Press u to open one by its URL.`,
      );
    else if (entry) this.openForm(entry);
  }

  /** Restarts the server of the selected entry; reloads a server that was not started here. */
  restartServer(): void {
    const {
      tools: { entry },
      controls,
    } = this;
    if (entry?.server.output) controls.restart(entry.server.id);
    else if (entry) controls.wake(entry.server.id);
  }

  removeServer(): void {
    const { model, tools } = this;
    const { entry } = tools;
    if (entry?.kind !== 'server' || entry.server.state.kind !== 'failed')
      return void this.complain('Only a server that could not be reached can be removed. Select one.');
    const entries = entriesOf(model.servers);
    const at = entries.findIndex(({ key }) => key === entry.key);
    const next = entries[at + 1] ?? entries[at - 1];
    this.controls.dismiss(entry.server.id);
    tools.set({ selected: next?.key ?? null });
  }

  /** Sends the form; shows invalid arguments at their fields. @param validates against the `inputSchema` */
  runForm(validates = true): void {
    const { form } = this;
    if (!form || this.isSending(form.id)) return;
    const args = form.form.arguments(validates);
    if (!args.ok) this.changeForm(form.id, () => args.form);
    else if (validates && isRedacted(args.value))
      this.complain(`Not sent: ${REDACTED} replaces a secret. Press Ctrl-T to send it as it is.`);
    else this.#place({ draft: draftOf(form, args.value), validates, from: form.id });
  }

  #place(sending: Sending): void {
    const { server: id, operation } = sending.draft;
    const match = toolsNamed(this.model.servers, operation).find(({ server }) => server.id === id);
    if (!match) this.complain(`${operation} is not offered any more.`);
    else if (this.controls.needsConsent(id, operation)) this.#askConsent(sending, match.server);
    else void this.#send(sending);
  }

  /** Asks whether to call a destructive operation. The default is not to. */
  #askConsent(sending: Sending, { about }: Server): void {
    const { operation, arguments: args } = sending.draft;
    const decline = async () => {
      const { text, isBad } = await this.controls.decline(sending.draft);
      const again = isRerun(sending) ? 'r' : 'Ctrl-R';
      this.report({ text: `${nameOf(operation)}: ${text}. Press ${again}, then 0, to call it.`, isBad });
    };
    const prompt = [
      `${nameOf(operation)} is marked destructive. Call it?`,
      `At ${nameOf(about)}, with ${cut(safeJson(args), MAX_LENGTH.arguments)}`,
    ];
    this.show({
      kind: 'question',
      picker: openPicker({ prompt: prompt.join('\n'), choices: ['Call it', 'Do not call it'], default: 1 }),
      onPick: selected => void (selected === 0 ? this.#send(sending, true) : decline()),
      onEscape: decline,
      escapeHint: 'do not call it',
    });
  }

  /** Sends a draft, then shows its call, or the faults in its form. If the user has moved on, only shows a notice. */
  async #send(sending: Sending, isAgreed = false): Promise<void> {
    const { draft, validates, from } = sending;
    this.sending = [...this.sending, sending];
    const { position } = this;
    const sent = await this.controls.run(draft, { validates, isAgreed });
    const isHere = this.isAt(position);
    this.sending = this.sending.filter(each => each !== sending);
    if (sent.kind === 'invalid') this.changeForm(from, form => form.withFaults(sent.faults, isHere));
    if (sent.kind !== 'sent')
      this.complain(`${isHere ? '' : `${draft.operation}: `}${reasonOf(sent, sending)}`);
    else if (isHere) this.#showSent(sent.key);
    else this.say(`${draft.operation} was sent: see Calls.`, 'good');
  }

  /** Resets the form of an edited call after sending. */
  #showSent(key: string): void {
    if (this.form && this.form.about !== null) this.form = null;
    this.calls.set({ tab: 'result' });
    this.showCalls(0, key);
  }

  /** Sends the selected call again: to the same server, with the same arguments, validated or not, in a new thread. */
  runAgain(): void {
    const call = this.#selectedCall();
    if (!call) return;
    const { exchange, target, doubt, name, validates } = call;
    const { operation, arguments: args } = exchange.invocation;
    const draft = { server: target.server.id, operation, arguments: args };
    if (this.isSending(name)) this.complain('Not run: it is being sent already.');
    else if (doubt !== null)
      this.complain(`Not run: ${doubt} Press e to open its form at ${target.server.about}.`);
    else if (call.isRedacted)
      this.complain(`Not run: ${REDACTED} replaces a secret. Press e to edit the arguments.`);
    else this.#place({ draft, validates, from: name });
  }

  /** Opens the form of the selected call's operation with its arguments, at another server if necessary. */
  editAgain(): void {
    const call = this.#selectedCall();
    if (!call) return;
    const { exchange, target, doubt, name } = call;
    this.openForm(target, { given: exchange.invocation.arguments, about: name });
    const notes = [
      ...(doubt === null ? [] : [`This is the form of ${target.server.about}: ${doubt}`]),
      ...(call.isRedacted ? [`${REDACTED} replaces a secret: type it in.`] : []),
    ];
    if (notes.length > 0) this.complain(notes.join(' '));
  }

  /** The selected call and the server to send it to; shows a message without one. */
  #selectedCall(): SelectedCall | null {
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
    if (!target) {
      this.complain(`No open tool server offers ${operation}. Press u to open one.`);
      return null;
    }
    return {
      exchange,
      target,
      doubt: doubtOf(owners.length),
      name: `${source.id} ${exchange.key}`,
      validates: !(source.isLive && model.isUnvalidated(exchange.key)),
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
      picker: { ...openPicker(question), asker },
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
    if (!canBeGivenUp(exchange)) return this.complain('The call is over, and it has no open subscription.');
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
    const shown = cut(text, MAX_SHOWN);
    this.show({
      kind: 'page',
      title: [say(said, isBad ? 'bad' : 'good'), ...missing],
      lines: columns => (gaps ? shellRows(shown, columns) : [shown]).map(line => quote(line)),
      scroll: 0,
    });
  }

  askServer(text = ''): void {
    const { model } = this;
    const complete = async (typed: string) => {
      const urls = model.servers.map(({ about }) => about).filter(about => URL.canParse(about));
      return [...new Set(['demo', ...urls, ...model.recent])].filter(word => word.startsWith(typed)).sort();
    };
    const open = (typed: string) => this.openServer(typed);
    this.ask('Tool server (URL, :port or demo): ', open, { text, complete });
  }

  pickRecent(): void {
    const { recent: choices } = this.model;
    if (choices.length === 0) return void this.complain('No tool server was opened before.');
    this.show({
      kind: 'question',
      picker: openPicker({ prompt: 'Open which server?', choices: [...choices], default: 0 }),
      onPick: selected => this.openServer(choices[selected] ?? ''),
      escapeHint: 'later',
    });
  }

  openServer(typed: string): void {
    const { controls, tools } = this;
    if (typed.trim() === '') return;
    const opened = controls.open(typed.trim());
    if ('isBad' in opened) {
      this.askServer(typed);
      this.report(opened);
    } else {
      tools.set({ selected: entryKey(opened.server) });
      this.go('tools');
    }
  }

  askTranscript(text = ''): void {
    const open = (typed: string) => void this.openTranscript(typed);
    this.ask('Open transcript: ', open, { text, complete: this.controls.paths });
  }

  /** Opens a transcript and shows its calls, unless the user is typing somewhere else by then. */
  async openTranscript(typed: string): Promise<void> {
    const { model, controls, position } = this;
    if (typed.trim() === '') return;
    const known = new Set(model.sources);
    const said = await controls.openTranscript(typed.trim());
    const source = model.sources.find(each => !known.has(each)); // reopening a file adds another source
    if (!source && said.isBad && this.isAt(position)) this.askTranscript(typed);
    this.report(said);
    if (source && !this.overlay && this.page !== 'form') this.showCalls(source.id);
  }

  askSaveTranscript(): void {
    const { saveTranscript } = this.controls;
    void this.#askPath('Save the transcript as: ', TRANSCRIPT_NAME, saveTranscript);
  }

  askSaveFixture(): void {
    const { exchange, source, controls } = this;
    if (!exchange) return void this.complain('No call to save.');
    if (!exchange.settled) return void this.complain('Cannot save a fixture: the call has no result yet.');
    const save = (path: string) => controls.saveFixture(exchange.key, source.id, path);
    void this.#askPath('Save as fixture: ', fixtureName(exchange.invocation.operation), save);
  }

  /** Suggests a free file name as soon as it is found, unless the user is already typing; prompts again after a failure. */
  async #askPath(label: string, name: string, save: (path: string) => Promise<Said>): Promise<void> {
    const { controls } = this;
    const ask = (text: string) =>
      this.ask(label, typed => void saveAs(typed), { text, complete: controls.paths });
    const saveAs = async (typed: string) => {
      if (typed.trim() === '') return;
      const { position } = this;
      const said = await save(typed.trim());
      if (said.isBad && this.isAt(position)) ask(typed);
      this.report(said);
    };
    ask(name);
    const asked = this.overlay;
    const free = await controls.freeName(name);
    if (this.overlay === asked) ask(free);
  }
}

function areLoaded(servers: readonly Server[]): boolean {
  const kinds = servers.map(({ state }) => state.kind);
  return kinds.includes('ready') && kinds.every(kind => kind === 'ready' || kind === 'failed');
}

function draftOf({ server, operation }: OpenForm, args: Draft['arguments']): Draft {
  return { server, operation, arguments: args };
}

function isRedacted(args: unknown): boolean {
  return JSON.stringify(args).includes(REDACTED);
}

/** Maximum length of the texts shown, in characters; the screen counts the rows that do not fit. */
const MAX_LENGTH = { name: 200, arguments: 4_000 };

/** An untrusted name must not look like a line of the program. */
function nameOf(text: string): string {
  return cut(text, MAX_LENGTH.name).replaceAll('\n', '␊');
}

function isRerun({ from }: Sending): boolean {
  return typeof from === 'string';
}

function reasonOf(sent: Exclude<Sent, { kind: 'sent' }>, sending: Sending): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRerun(sending) ? 'Press e to edit them.' : 'Press Ctrl-T to send them as they are.';
  return `Not sent: the arguments do not match the inputSchema. ${next}`;
}

interface SelectedCall {
  readonly exchange: Exchange;
  readonly target: ServerTool;
  /** Why this may be another server than that of the call; null if it is the same one. */
  readonly doubt: string | null;
  readonly name: string;
  readonly validates: boolean;
  /** Transcripts do not contain the secrets that were sent. */
  readonly isRedacted: boolean;
}

function doubtOf(owners: number): string | null {
  if (owners === 1) return null;
  return owners === 0
    ? 'its own tool server does not offer it now.'
    : `${owners} open tool servers have its endpoint.`;
}

const MAX_SHOWN = 20_000;

/**
 * Splits a POSIX shell command into rows that can be pasted as the same command: a row that ends in a backslash continues in the next one.
 * Splits between words, and within words that are wider than a row.
 * @param text its words are plain, single-quoted, or escaped by backslashes; its line breaks are kept
 */
export function shellRows(text: string, columns: number): readonly string[] {
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
