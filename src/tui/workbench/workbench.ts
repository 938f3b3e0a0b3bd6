import { type Exchange, isUnderWay } from '../../events/exchange.js';
import type { Tool } from '../../protocol/toolset.js';
import { type Line, quote, say } from '../../render/line.js';
import { cutLine, widthOf } from '../../render/terminal/fit.js';
import { styleLine } from '../../render/terminal/theme.js';
import type { AnyList } from '../calls/list-detail.js';
import type { Hint, Place, Press } from '../keys.js';
import { choicesLine, firstLineOf } from '../layout.js';
import { ListScreen } from '../list-screen.js';
import { Picker } from '../picker.js';
import type { Size } from '../terminal.js';
import { callsList, openChoice } from './calls.js';
import { drawForm } from './form/draw.js';
import { Form } from './form/form.js';
import {
  type ActionResult,
  type Controls,
  type Draft,
  definitionsIn,
  definitionsText,
  fixtureName,
  type Model,
  type Server,
  type SessionOptions,
  type Source,
  TRANSCRIPT_NAME,
} from './model.js';
import { entryKey, toolsList } from './tools.js';

interface Sending {
  readonly draft: Draft;
  readonly validates: boolean;
  /** The form, or the name of the call that is sent again. */
  readonly from: OpenForm | string;
}

interface OpenForm {
  readonly name: string;
  readonly server: string;
  readonly operation: string;
  /** The call that is edited; null in the form of the operation itself. */
  readonly about: string | null;
  description: string;
  form: Form;
}

interface ServerTool {
  readonly server: Server;
  readonly tool: Tool;
}

interface FormInput {
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  readonly about?: string | null;
  /** False: the form is filled in without being shown. */
  readonly isShown?: boolean;
}

interface TextPrompt {
  readonly label: string;
  /** Returns a message, if there is one. */
  readonly work: (typed: string) => ActionResult | null | Promise<ActionResult>;
  readonly complete: (typed: string) => Promise<readonly string[]>;
}

/** Maximum number of forms kept with their input, besides the current one; the oldest is dropped first. */
const MAX_FORMS = 50;

const PROGRAM: Line = [say('protocol-cli  ', 'dim')];

/** Minimum width of the text at the right of the head, in cells. */
const MIN_ABOUT = 12;

/** Possible widths of a form's name in the head, in cells; the widest that fits is used. */
const NAME_WIDTHS = [60, 30, 12, 7];

const MIN_ROWS_FOR_HEADING = 8;

const FORM_HINTS: readonly Hint[] = [
  ['Ctrl-R', 'run'],
  ['Ctrl-E', 'JSON'],
  ['↑↓', 'field'],
];

const FORM_ENDS: readonly Hint[] = [
  ['Ctrl-G', 'keys'],
  ['Esc', 'back'],
  ['Ctrl-C', 'quit'],
];

/** The pages of the workbench: what they show, the open forms, and the files and servers that the user opens. */
export abstract class WorkbenchPages extends ListScreen {
  page: 'tools' | 'form' | 'calls' = 'tools';
  protected isPressed = false;
  readonly model: Model;
  readonly controls: Controls;
  readonly tools;
  readonly calls;
  /** The current form, or the last one. */
  form: OpenForm | null = null;
  /** The drafts being sent, so that none is sent twice. */
  sending: readonly Sending[] = [];
  /** The last restart of each server that was shown. */
  readonly #restarts = new Map<string, Server['restarted']>();
  /** By name, the most recent last. */
  readonly #forms = new Map<string, OpenForm>();
  #source = 0;
  #marked: (Pick<Source, 'redactor'> & { readonly exchange: Exchange }) | null = null;
  /** The user pressed `q` while this many calls were pending. */
  #warning: { readonly count: number; readonly until: number } | null = null;

  constructor(options: SessionOptions, onChange: () => void) {
    super(options, onChange);
    const { model, controls, supports } = options;
    this.model = model;
    this.controls = controls;
    this.tools = this.listDetail(toolsList(model));
    this.calls = this.listDetail(
      callsList({
        model,
        supports,
        onChange,
        source: () => this.source,
        now: () => this.now,
        marked: () => this.#marked,
      }),
    );
  }

  abstract runForm(): void;

  get list(): AnyList {
    return this.page === 'calls' ? this.calls : this.tools;
  }

  get source(): Source {
    const source = this.model.sources.find(({ id }) => id === this.#source) ?? this.model.sources[0];
    if (!source) throw new Error('this session is always a source');
    return source;
  }

  get exchange(): Exchange | undefined {
    return this.calls.entry;
  }

  /** Returns whether the user is still at the same place, in the same state. */
  protected watchPlace(): () => boolean {
    const placeNow = () => [this.page, this.overlay, this.calls.view, this.form?.form];
    const before = placeNow();
    return () => placeNow().every((each, index) => each === before[index]);
  }

  report({ text, isBad }: ActionResult): void {
    this.say(text, isBad ? 'bad' : 'good');
  }

  complain(text: string): void {
    this.say(text, 'bad');
  }

  go(page: WorkbenchPages['page']): void {
    this.page = page;
    this.onChange();
  }

  back(): void {
    this.forgetKey();
    const isEdited = this.page === 'form' && this.form?.about !== null;
    this.go(isEdited ? 'calls' : 'tools');
  }

  /** Shows the calls of this session or of a transcript. @param key of the call to select */
  showCalls(source: number, key: string | null = null): void {
    this.#source = source;
    this.calls.toList();
    this.calls.set({ selected: key });
    this.go('calls');
  }

  nextSource(): void {
    const { sources } = this.model;
    const next = sources[(sources.indexOf(this.source) + 1) % sources.length];
    if (next) this.showCalls(next.id);
  }

  compare(): void {
    const { exchange, source } = this;
    if (!exchange) return void this.complain('No call to compare.');
    if (this.#marked && this.#marked.exchange.key !== exchange.key)
      return void this.calls.set({ tab: 'compare' });
    this.#marked = { exchange, redactor: source.redactor };
    this.say('Marked. Select another call and press = to compare them.', 'good');
  }

  /** Opens the form of an operation. A form that was filled in before keeps its values, though its schema may have changed. */
  openForm({ server, tool }: ServerTool, { given, about = null, isShown = true }: FormInput = {}): void {
    const { name: operation, description, inputSchema } = tool;
    const name = JSON.stringify([server.id, operation, about]);
    const known = this.#forms.get(name);
    const form = known?.form.withSchema(inputSchema) ?? Form.of(inputSchema, given);
    const opened = known ?? { name, server: server.id, operation, about, description, form };
    this.forgetForm(opened);
    this.#forms.set(name, Object.assign(opened, { description, form }));
    const [oldest = ''] = this.#forms.keys();
    if (this.#forms.size > MAX_FORMS + 1) this.#forms.delete(oldest);
    if (!isShown) return;
    this.form = opened;
    this.go('form');
  }

  forgetForm({ name }: OpenForm): void {
    this.#forms.delete(name);
  }

  changeForm(of: Sending['from'], change: (form: Form) => Form): void {
    if (typeof of === 'object') of.form = change(of.form);
    this.onChange();
  }

  isSending(from: Sending['from']): boolean {
    return this.sending.some(each => each.from === from);
  }

  readonly serverPrompt: TextPrompt = {
    label: 'Tool server (URL, :port or demo): ',
    work: typed => this.openServer(typed),
    complete: async typed => {
      const { servers, recent } = this.model;
      const urls = servers.map(({ about }) => about).filter(about => URL.canParse(about));
      return [...new Set(['demo', ...urls, ...recent])].filter(word => word.startsWith(typed)).sort();
    },
  };

  readonly transcriptPrompt: TextPrompt = {
    label: 'Open transcript: ',
    work: typed => this.#openTranscript(typed),
    complete: typed => this.controls.paths(typed),
  };

  openPrompt(prompt: TextPrompt, text = ''): void {
    const { label, complete } = prompt;
    this.ask(label, typed => void this.submit(prompt, typed), { text, complete });
  }

  /** After a failure, asks again with the typed text, unless the user is somewhere else by then. */
  async submit(prompt: TextPrompt, typed: string): Promise<void> {
    if (typed.trim() === '') return;
    const isHere = this.watchPlace();
    const said = await prompt.work(typed.trim());
    if (said?.isBad && isHere()) this.openPrompt(prompt, typed);
    if (said) this.report(said);
  }

  /** Restarts the server of the selected entry; reloads a server that was not started here. */
  restartServer(): void {
    const {
      tools: { entry },
      controls,
    } = this;
    if (entry?.server.output) controls.restart(entry.server.id);
    else if (entry) controls.load(entry.server.id);
  }

  /** The server of the selected call; undefined in a transcript. */
  get serverOfCall(): Server | undefined {
    const { exchange, source, model } = this;
    const id = exchange && source.isLive ? model.serverOf(exchange.key) : null;
    return model.servers.find(server => server.id === id);
  }

  restartServerOfCall(): void {
    const { serverOfCall: server, controls } = this;
    if (!server) return void this.complain('No call to an open tool server is selected.');
    if (server.output) controls.restart(server.id);
    else controls.load(server.id);
    this.say(`Restarting ${server.about} …`);
  }

  /** Says which servers were restarted since the last time. */
  showRestarts(): void {
    for (const { id, about, restarted, state } of this.model.servers) {
      if (!restarted || this.#restarts.get(id) === restarted) continue;
      this.#restarts.set(id, restarted);
      const why = restarted.why === null ? '' : `: ${restarted.why}`;
      if (state.kind === 'failed') this.complain(`${about} did not restart: ${state.message}`);
      else this.say(`${about} was restarted${why}.`, 'good');
    }
  }

  /** Why nothing can be sent to the server of the selected call; null if it is ready, or unknown. */
  protected get unavailable(): string | null {
    return this.serverOfCall ? unavailableText(this.serverOfCall) : null;
  }

  pickRecent(): void {
    const { recent: choices } = this.model;
    if (choices.length === 0) return void this.complain('No tool server was opened before.');
    this.show({
      kind: 'question',
      picker: new Picker({ prompt: 'Open which server?', choices: [...choices], default: 0 }),
      onPick: selected => void this.openServer(choices[selected] ?? ''),
      escapeHint: 'later',
    });
  }

  openServer(target: string): ActionResult | null {
    const opened = this.controls.open(target);
    if ('isBad' in opened) return opened;
    this.tools.set({ selected: entryKey(opened.server) });
    this.go('tools');
    return null;
  }

  /** Opens a transcript and shows its calls, unless the user is typing somewhere else by then. */
  async #openTranscript(path: string): Promise<ActionResult> {
    const { model } = this;
    const known = new Set(model.sources);
    const said = await this.controls.openTranscript(path);
    const source = model.sources.find(each => !known.has(each)); // reopening a file adds another source
    if (source && !this.overlay && this.page !== 'form') this.showCalls(source.id);
    return said;
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

  /** Suggests a free file name as soon as it is found, unless the user is already typing. */
  async #askPath(label: string, name: string, work: TextPrompt['work']): Promise<void> {
    const { freeName, paths: complete } = this.controls;
    const prompt = { label, work, complete };
    this.openPrompt(prompt, name);
    const asked = this.overlay;
    const free = await freeName(name);
    if (this.overlay === asked) this.openPrompt(prompt, free);
  }

  /** Quits; if calls are pending, only on the second press. */
  quit(): void {
    const count = this.model.sources[0]?.callLog.underWay.size ?? 0;
    const isWarned = this.#warning?.count === count && this.#warning.until > this.now;
    if (count === 0 || isWarned) return void this.controls.quit();
    const calls = count === 1 ? 'A call is' : `${count} calls are`;
    const text = `${calls} pending and will be canceled: press again to quit.`;
    this.#warning = { count, until: this.note('key', [quote(text, 'bad')]) };
  }

  protected override beforeKey(name: string): void {
    this.isPressed = true;
    if (!this.#warning || name === 'q' || name === 'ctrl+c') return;
    this.#warning = null;
    this.forgetKey();
  }

  protected override get typing() {
    return this.page === 'form' && this.overlay === null ? 'text' : 'keys';
  }

  protected override typed(press: Press): void {
    if (this.page === 'form') this.pressForm(press);
  }

  pressForm(press: Press): void {
    const { form } = this;
    if (!form) return;
    const after = form.form.press(press);
    const runs = form.form.wantsRun(press);
    const { faults } = form.form.state;
    if (after.state.faults.length < faults.length) this.forgetKey();
    if (runs) this.runForm();
    else this.changeForm(form, () => after);
  }

  protected override get places(): readonly Place[] {
    if (this.page === 'form') return ['form'];
    if (this.page === 'calls') return super.places;
    return this.list.isReading ? ['reading', 'tools', 'everywhere'] : ['tools', 'list', 'everywhere'];
  }

  protected override get hints() {
    return this.page === 'form' ? { hints: FORM_HINTS, ends: FORM_ENDS } : super.hints;
  }

  protected override body(size: Size, isRoomy: boolean) {
    if (this.page !== 'form' || !this.form) return super.body(size, isRoomy);
    return { body: this.#formRows(this.form, size, isRoomy), isRunning: false };
  }

  #formRows(open: OpenForm, { columns, rows }: Size, isRoomy: boolean): readonly string[] {
    const { operation, description, form, server } = open;
    if (rows < MIN_ROWS_FOR_HEADING) return drawForm(form, { columns, rows }, this.theme);
    const { servers } = this.model;
    const owner = servers.find(each => each.id === server);
    const definitions = owner ? definitionsIn(servers)(owner, operation) : 1;
    const sending = this.isSending(open) ? '  sending …' : '';
    const heading: readonly Line[] = [
      ...(isRoomy ? [[]] : []),
      [
        ...quote(operation, 'title'),
        say(sending, 'running'),
        say('  '),
        ...quote(firstLineOf(description), 'dim'),
      ],
      definitions > 1 ? [say(definitionsText(definitions), 'bad')] : [],
    ];
    return [
      ...heading.map(line => styleLine(cutLine(line, columns), this.theme)),
      ...drawForm(form, { columns, rows: rows - heading.length }, this.theme),
    ];
  }

  /** The pages, and the current item if there is room for it. */
  protected head(columns: number): readonly Line[] {
    const { page, form } = this;
    const { callLog, isLive } = this.source;
    const running = isLive && callLog.underWay.size > 0 ? `, ${callLog.underWay.size} running` : '';
    const sending = this.sending.some(({ from }) => typeof from === 'string') ? ', sending …' : '';
    const pages = (max: number) =>
      choicesLine([
        { text: 'Tools', isChosen: page === 'tools' },
        ...(form ? [{ text: `Form ${form.operation}`, isChosen: page === 'form', max }] : []),
        { text: `Calls ${callLog.keys.length}${running}${sending}`, isChosen: page === 'calls' },
      ]);
    const named = NAME_WIDTHS.map(max => [...PROGRAM, ...pages(max)]);
    const fitting = named.find(line => widthOf(line) + MIN_ABOUT + 2 <= columns);
    const line = fitting ?? pages(NAME_WIDTHS.at(-1) ?? 0);
    const room = columns - widthOf(line) - 2;
    const looked = cutLine(quote(this.#about, 'dim'), room);
    if (room < MIN_ABOUT) return [line];
    return [[...line, say(' '.repeat(room + 2 - widthOf(looked))), ...looked]];
  }

  /** The text at the right of the head: the server, the transcript, or the current call. */
  get #about(): string {
    const { servers, serverOf } = this.model;
    const { page, exchange, source } = this;
    if (page === 'tools') return this.tools.entry?.server.about ?? '';
    if (page === 'form') return servers.find(({ id }) => id === this.form?.server)?.about ?? '';
    if (exchange && this.calls.isReading) return `${exchange.invocation.operation} ${exchange.invocation.id}`;
    if (!source.isLive) return source.name;
    const id = exchange ? serverOf(exchange.key) : null;
    const only = servers.length === 1 ? servers[0] : undefined;
    return (servers.find(server => server.id === id) ?? only)?.about ?? '';
  }

  get waits() {
    const { exchange, source } = this;
    const isLive = source.isLive && exchange !== undefined;
    return {
      forChoice: isLive && openChoice(this.calls.selected, source.callLog) !== null,
      forConsent: isLive && exchange.waitingFor?.type === 'oauth',
      isRunning: isLive && isUnderWay(exchange),
    };
  }
}

function unavailableText({ about, state, output }: Server): string | null {
  if (state.kind === 'loading') return `${about} is starting`;
  if (state.kind !== 'failed') return null;
  const how = state.exited === undefined ? `: ${state.message}` : ` ${state.exited}`;
  return `${about}${how} · R ${output ? 'restarts' : 'reloads'} it`;
}
