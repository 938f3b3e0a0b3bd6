import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/validator.js';
import { memoizeByObject } from '../../../util/collections.js';
import { jsonFault } from '../../../util/json.js';
import { isRecord, jsonPath } from '../../../util/values.js';
import type { Press } from '../../keys.js';
import { TextInput } from '../../text-input.js';
import { choiceText, type Field, FieldMaker, KINDS, readFields } from './fields.js';

/** Every key of a form, with what it does. */
const FORM_KEYS = [
  ['up', 'the field above; in JSON the line above'],
  ['down', 'the field below; in JSON the line below'],
  ['tab', 'the next field'],
  ['shift+tab', 'the field before'],
  ['enter', 'the next field; adds where it says so; runs on Run'],
  ['left', 'left in a text; the choice before'],
  ['right', 'right in a text; the next choice, as Space does'],
  ['home', 'start of the text; the first choice'],
  ['end', 'end of the text; the last choice'],
  ['pageup', 'ten fields up'],
  ['pagedown', 'ten fields down'],
  ['erase', 'erases a character'],
  ['ctrl+w', 'erases a word'],
  ['ctrl+u', 'erases up to the start of the line'],
  ['ctrl+j', 'a line break in a text'],
  ['ctrl+d', 'removes an item or an optional value; an empty field sends an empty text'],
  ['ctrl+e', 'all of it as JSON, and back'],
  ['ctrl+r', 'runs, from any field'],
] as const;

/** Steps of the keys, in focusable rows or lines of JSON. */
const MOVES: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  'shift+tab': -1,
  tab: 1,
  pageup: -10,
  pagedown: 10,
};

/** A row of the form: a field, or the row that adds an item to an array. */
interface Row {
  readonly kind: 'field' | 'add';
  /** Indexes of children, from the root down. */
  readonly address: readonly number[];
  readonly path: string;
  readonly depth: number;
  readonly field: Field;
  readonly isFocusable: boolean;
}

interface State {
  readonly root: Field;
  /** `raw`: all arguments are one JSON text. */
  readonly mode: 'fields' | 'raw';
  readonly raw: TextInput;
  /** The index of the focused row; the last one is `Run`. In raw mode the text is the only other one. */
  readonly focus: number;
  /** The offset in the text of the focused field. */
  readonly cursor: number;
  readonly faults: readonly SchemaFault[];
}

/** The arguments, or the form with its faults. */
type FormArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly form: Form };

/** A form for the arguments of a call. Immutable. */
export class Form {
  static readonly keys = FORM_KEYS;

  private constructor(
    readonly schema: Schema,
    readonly state: State,
  ) {}

  /**
   * Creates a form for any `inputSchema`. Without `initial`, every default is filled in; with it, only missing required values, so that a
   * call's arguments stay unchanged. Arguments that no field can hold open as JSON.
   */
  static of(schema: Schema, initial?: Readonly<Record<string, unknown>>): Form {
    const root = new FieldMaker(schema).arguments(initial);
    const mode = 'fields';
    const form = new Form(schema, { root, mode, raw: rawOf(root), focus: 0, cursor: 0, faults: [] });
    return form.hasFields ? form.focusOn(0) : form.#with({ mode: 'raw' });
  }

  /** Applies a schema that may have changed, and keeps the typed values. */
  withSchema(schema: Schema): Form {
    if (isDeepStrictEqual(this.schema, schema)) return this;
    const { value: typed } = readFields(this.state.root);
    const fresh = Form.of(schema, isRecord(typed) ? typed : {});
    const { mode, raw } = this.state;
    return mode === 'raw' ? fresh.#with({ mode, raw }).focusOn(0) : fresh;
  }

  get hasFields(): boolean {
    return this.state.root.kind === 'object' || this.state.root.kind === 'variants';
  }

  /** Empty in raw mode. */
  get rows(): readonly Row[] {
    return this.state.mode === 'raw' ? [] : rowsOf(this.state.root);
  }

  /** Undefined on `Run` and in raw mode. */
  get focusedRow(): Row | undefined {
    return this.#focusable[this.state.focus];
  }

  get isOnRun(): boolean {
    return this.state.focus === this.#last;
  }

  get #focusable(): readonly Row[] {
    return this.rows.filter(({ isFocusable }) => isFocusable);
  }

  get #last(): number {
    return this.state.mode === 'raw' ? 1 : this.#focusable.length;
  }

  #with(change: Partial<State>): Form {
    return new Form(this.schema, { ...this.state, ...change });
  }

  focusOn(index: number): Form {
    const focus = Math.max(0, Math.min(this.#last, index));
    return this.#with({ focus, cursor: this.#focusable[focus]?.field.text.length ?? 0 });
  }

  /** Adds faults to the form. @param moves the focus to the first field with a fault */
  withFaults(faults: readonly SchemaFault[], moves = true): Form {
    const faulty = this.#with({ faults });
    if (!moves) return faulty;
    if (this.state.mode === 'raw') return faulty.focusOn(0);
    const wrong = new Set(faults.map(rowFinder(this.rows)));
    const first = this.rows.findIndex(row => wrong.has(row));
    return first < 0
      ? faulty
      : faulty.focusOn(this.rows.slice(0, first).filter(row => row.isFocusable).length);
  }

  /** The messages of each row; undefined is the key for those of no row. */
  get messages(): ReadonlyMap<Row | undefined, readonly string[]> {
    const find = rowFinder(this.rows);
    const messages = new Map<Row | undefined, string[]>();
    for (const fault of this.state.faults) {
      const row = find(fault);
      const rest = plain(fault.path).slice(row?.path.length ?? 0);
      const message = rest === '' || rest === '$' ? fault.message : `${rest} ${fault.message}`;
      messages.set(row, [...(messages.get(row) ?? []), message]);
    }
    return messages;
  }

  /**
   * The typed arguments; empty optional fields are left out. Faults are invalid texts and empty required fields; `withFaults` adds those of
   * the `inputSchema`.
   * @param demandsRequired false: required fields may be empty too
   */
  arguments(demandsRequired = true): FormArguments {
    if (this.state.mode === 'raw') return this.#rawArguments();
    const { value, faults } = readFields(this.state.root, demandsRequired);
    return faults.length > 0 ? { ok: false, form: this.withFaults(faults) } : this.#accept(value);
  }

  /** Moves the cursor to a syntax error. */
  #rawArguments(): FormArguments {
    const { raw, root } = this.state;
    const { value, fault } = KINDS.json.read({ ...root, text: raw.text });
    if (fault === undefined) return this.#accept(value);
    const { line = 1, column } = jsonFault(raw.text) ?? {};
    const above = raw.text.split('\n', line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const form = column === undefined ? this : this.#with({ raw: raw.at(above + column - 1) });
    return form.#refuse(fault);
  }

  #accept(value: unknown): FormArguments {
    return isRecord(value) ? { ok: true, value } : this.#refuse('must be an object');
  }

  #refuse(message: string): FormArguments {
    return { ok: false, form: this.withFaults([{ path: '$', message }]) };
  }

  /** Whether this key starts the call: Enter on `Run`, Ctrl-R anywhere. */
  wantsRun({ name }: Press): boolean {
    return name === 'ctrl+r' || (name === 'enter' && this.isOnRun);
  }

  press({ name, text }: Press): Form {
    if (name === 'ctrl+e') return this.#toggleRaw();
    const typed = name === 'ctrl+j' ? '\n' : text.replaceAll(/\r\n?/g, '\n');
    if (this.state.mode === 'raw') return this.#pressRaw(name, typed);
    return typed === '' ? this.#pressFields(name) : this.#type(typed);
  }

  /** Switches between fields and JSON text. Text that is not a JSON object stays. */
  #toggleRaw(): Form {
    const { mode, root } = this.state;
    if (mode === 'fields') return this.#with({ mode: 'raw', raw: rawOf(root), faults: [] }).focusOn(0);
    if (!this.hasFields) return this;
    const read = this.arguments();
    return read.ok ? Form.of(this.schema, read.value) : read.form;
  }

  #pressRaw(key: string, typed: string): Form {
    if (key === 'tab' || key === 'shift+tab') return this.focusOn(key === 'tab' ? 1 : 0);
    if (this.isOnRun) return key === 'up' ? this.focusOn(0) : this;
    const { raw: before, faults } = this.state;
    const text = key === 'enter' ? '\n' : typed;
    const lines = MOVES[key];
    const stepped = lines === undefined ? before.step(key) : before.moveLines(lines);
    const raw = text === '' ? stepped : before.insert(text);
    return this.#with({ raw, faults: raw.text === before.text ? faults : [] });
  }

  #pressFields(key: string): Form {
    const { focus } = this.state;
    const move = MOVES[key];
    const row = this.focusedRow;
    if (move !== undefined) return this.focusOn(focus + move);
    if (!row) return this;
    if (key === 'enter') return this.#add(row) ?? this.focusOn(focus + 1);
    if (key === 'ctrl+d') return this.#remove(row);
    const { input } = KINDS[row.field.kind];
    if (input === 'typed') return this.#write(row, text => text.step(key));
    return input === 'chosen' ? this.#choose(row, stepChoice(row.field, key)) : this;
  }

  #write(row: Row, change: (input: TextInput) => TextInput): Form {
    const { field } = row;
    const { text, cursor } = change(new TextInput(field.text, this.state.cursor));
    const moved = this.#with({ cursor });
    return text === field.text ? moved : moved.#replace(row, { text });
  }

  #type(typed: string): Form {
    const row = this.focusedRow;
    if (!row || row.kind === 'add') return this;
    const { field } = row;
    const { input } = KINDS[field.kind];
    if (input === 'typed') return this.#write(row, text => text.insert(typed));
    if (input === 'group') return this;
    if (typed === ' ') return this.#choose(row, stepChoice(row.field, 'right'));
    if (field.kind === 'choice') return this.#choose(row, startingWith(field, typed));
    // Typing selects the variant for a string, or for a number if a digit is typed.
    const kinds = field.options.map(variant => new FieldMaker(this.schema).kindOf(variant as Schema));
    const at = kinds.indexOf(/^[-\d]/.test(typed) && kinds.includes('number') ? 'number' : 'text');
    const chosen = this.#choose(row, at);
    return at < 0 ? this : chosen.focusOn(this.state.focus + 1).#type(typed);
  }

  #choose(row: Row, at: number | null): Form {
    const { field } = row;
    if (at === field.at) return this;
    const hasChild = field.kind === 'variants' && at !== null;
    const children = hasChild ? [new FieldMaker(this.schema).variant(field.options[at])] : [];
    return this.#replace(row, { at, children });
  }

  /** Adds an item to an array, or adds an absent object. Null if nothing can be added. */
  #add(row: Row): Form | null {
    const { field } = row;
    const { focus } = this.state;
    const maker = new FieldMaker(this.schema);
    if (field.kind === 'object' && !field.isPresent)
      return this.#replace(row, maker.added(field)).focusOn(focus + 1);
    if (field.kind !== 'array') return null;
    const children = [...field.children, maker.item(field.schema, field.children.length)];
    return this.#replace(row, { isPresent: true, children }).focusOn(focus);
  }

  /** Removes an item or a property that is not in the schema; empties any other field. */
  #remove(row: Row): Form {
    const { focus, root } = this.state;
    if (row.field.isExtra && row.kind === 'field') {
      const rest = withField(root, row.address.slice(0, -1), group => withoutChild(group, row.field));
      return this.#with({ root: rest, faults: [] }).focusOn(focus);
    }
    const empty = emptied(row.field);
    return empty ? this.#replace(row, empty).focusOn(focus) : this;
  }

  /** Changes a row and removes its faults. */
  #replace({ address, path }: Row, change: Partial<Field>): Form {
    const root = withField(this.state.root, address, field => ({ ...field, ...change }));
    const find = rowFinder(this.rows);
    return this.#with({ root, faults: this.state.faults.filter(fault => find(fault)?.path !== path) });
  }
}

function rawOf(root: Field): TextInput {
  return new TextInput(JSON.stringify(readFields(root).value ?? {}, null, 2), 0);
}

/** Changes the field at an address (indexes of children, from the root down). */
function withField(root: Field, address: readonly number[], change: (field: Field) => Field): Field {
  const [first, ...rest] = address;
  if (first === undefined) return change(root);
  const children = root.children.map((child, index) =>
    index === first ? withField(child, rest, change) : child,
  );
  return { ...root, children };
}

function withoutChild(group: Field, child: Field): Field {
  const children = group.children.filter(each => each !== child);
  return group.kind === 'array'
    ? { ...group, children: children.map((each, key) => ({ ...each, key })) }
    : { ...group, children };
}

/** The emptied field, if it can be emptied: not a required choice or group, nor an array with items. */
function emptied({ kind, text, isPresent, isRequired, children }: Field): Partial<Field> | null {
  if (KINDS[kind].input === 'typed')
    return { text: '', isPresent: kind === 'text' && text === '' && !isPresent };
  if (isRequired) return null;
  if (kind !== 'array') return { at: null, isPresent: false, children: [] };
  return children.length === 0 ? { isPresent: !isPresent } : null;
}

/** The index of the choice after a key. After the last choice comes the empty one, if the value is optional, then the first. */
function stepChoice({ at, options, isRequired }: Field, key: string): number | null {
  const { length } = options;
  const [first, last] = isRequired ? [0, length - 1] : [null, null];
  switch (key) {
    case 'home':
      return 0;
    case 'end':
      return length - 1;
    case 'left':
      return at === 0 ? last : (at ?? length) - 1;
    case 'right':
      return at === length - 1 ? first : (at ?? -1) + 1;
    case 'erase':
    case 'ctrl+w':
    case 'ctrl+u':
      return isRequired ? at : null;
    default:
      return at;
  }
}

/** The next choice that starts with a text; without one, the current choice. */
function startingWith({ options, at }: Field, typed: string): number | null {
  const matches = (value: unknown) => choiceText(value).toLowerCase().startsWith(typed.toLowerCase());
  const next = options.findIndex((value, index) => index > (at ?? -1) && matches(value));
  const found = next < 0 ? options.findIndex(matches) : next;
  return found < 0 ? at : found;
}

/** Cached: a key press reads the rows several times. */
const rowsOf = memoizeByObject((field: Field): readonly Row[] => {
  const row: Row = { kind: 'field', address: [], path: '$', depth: 0, field, isFocusable: true };
  return field.kind === 'object' ? [...rowsIn({ ...row, depth: -1 })] : [row, ...rowsIn(row)];
});

function* rowsIn(row: Row): Generator<Row> {
  const { kind, children } = row.field;
  for (const [index, field] of children.entries()) {
    const { key } = field;
    const inner: Row = {
      kind: 'field',
      address: [...row.address, index],
      path: key === null ? row.path : plain(row.path + jsonPath([key]).slice(1)),
      depth: row.depth + 1,
      field,
      isFocusable: isFocusable(field),
    };
    // A variant's object shows only its members, and a constant nothing.
    if (key === null && field.kind === 'object') yield* rowsIn({ ...inner, depth: row.depth });
    else if (key !== null || field.options.length !== 1) yield* [inner, ...rowsIn(inner)];
  }
  if (kind === 'array' && children.length > 0)
    yield { ...row, kind: 'add', depth: row.depth + 1, isFocusable: true };
}

/** A heading can have the focus only if a key applies to it. */
function isFocusable({ kind, isRequired, isExtra, children }: Field): boolean {
  if (kind === 'object') return !isRequired || isExtra;
  return kind !== 'array' || children.length === 0;
}

/** Normalizes numeric keys, which can be written in two ways. */
function plain(path: string): string {
  return path.replaceAll(/\["(\d+)"\]/g, '[$1]');
}

/** Finds the row of a fault: the field at its path, or the nearest one above it. */
function rowFinder(rows: readonly Row[]): (fault: SchemaFault) => Row | undefined {
  const byPath = new Map(rows.filter(({ kind }) => kind === 'field').map(row => [row.path, row]));
  return fault => {
    for (let path = plain(fault.path); path !== ''; path = parentOf(path)) {
      const row = byPath.get(path);
      if (row) return row;
    }
    return undefined;
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));
}
