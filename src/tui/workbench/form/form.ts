import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/faults.js';
import { onceEach } from '../../../util/collections.js';
import { jsonFault } from '../../../util/json.js';
import { isRecord, jsonPath } from '../../../util/values.js';
import { TextInput } from '../../text-input.js';
import {
  type Child,
  type Field,
  FieldMaker,
  faultsIn,
  fieldValue,
  readJsonText,
  withExamples,
} from './fields.js';

/** A row of the form: a field, or the place where an array gets another item. */
export interface Row {
  readonly kind: 'field' | 'add';
  /** Indexes of children, from the root down. */
  readonly address: readonly number[];
  /** A JSON path. */
  readonly path: string;
  readonly depth: number;
  readonly child: Child;
  /** Whether it can have the focus. */
  readonly isStop: boolean;
}

interface State {
  readonly root: Field;
  /** `raw`: all arguments are one JSON text. */
  readonly mode: 'fields' | 'raw';
  readonly raw: TextInput;
  /** The index of the focused stop; the last stop is `Run`. In raw mode the text is the only other one. */
  readonly focus: number;
  /** In the text of the focused field. */
  readonly cursor: number;
  readonly faults: readonly SchemaFault[];
}

/** The arguments, or the form with its faults. */
type FormArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly form: Form;
      /** The arguments with examples in place of the faults, for the schema to judge the rest; null where they cannot be read. */
      readonly others: Record<string, unknown> | null;
    };

/** The arguments of a call as a person fills them in. Immutable. */
export class Form {
  /** All fields in one, which has no key of its own. */
  readonly #whole: Child;

  private constructor(
    readonly schema: Schema,
    readonly state: State,
  ) {
    this.#whole = { key: null, isRequired: true, isExtra: false, field: state.root };
  }

  /**
   * A form for an `inputSchema`, which may be anything. Without `initial` every default is filled in; with it only a required value that
   * is missing, so that a call's arguments come out unchanged. Arguments that no field can hold open as JSON.
   */
  static of(schema: Schema, initial?: Readonly<Record<string, unknown>>): Form {
    const root = new FieldMaker(schema).arguments(initial);
    const form = new Form(schema, {
      root,
      mode: 'fields',
      raw: rawOf(root),
      focus: 0,
      cursor: 0,
      faults: [],
    });
    return form.hasFields ? form.focusOn(0) : form.with({ mode: 'raw' });
  }

  /** The form for an `inputSchema` that may have changed since, with the values that were typed. */
  withSchema(schema: Schema): Form {
    if (isDeepStrictEqual(this.schema, schema)) return this;
    const typed = fieldValue(this.state.root);
    const fresh = Form.of(schema, isRecord(typed) ? typed : {});
    const { mode, raw } = this.state;
    return mode === 'raw' ? fresh.with({ mode, raw }).focusOn(0) : fresh;
  }

  with(change: Partial<State>): Form {
    return new Form(this.schema, { ...this.state, ...change });
  }

  /** Whether arguments that were reported as wrong have been edited since. */
  isCorrectionOf({ state: before }: Form): boolean {
    const { root, raw } = this.state;
    return before.faults.length > 0 && (root !== before.root || raw.text !== before.raw.text);
  }

  get hasFields(): boolean {
    return this.state.root.kind === 'object' || this.state.root.kind === 'variants';
  }

  /** None in raw mode. */
  get rows(): readonly Row[] {
    return this.state.mode === 'raw' ? [] : rowsOf(this.state.root);
  }

  get #stops(): readonly Row[] {
    return this.rows.filter(({ isStop }) => isStop);
  }

  /** None on `Run`, and in raw mode. */
  get focusedRow(): Row | undefined {
    return this.#stops[this.state.focus];
  }

  get isOnRun(): boolean {
    return this.state.focus === this.#last;
  }

  get #last(): number {
    return this.state.mode === 'raw' ? 1 : this.#stops.length;
  }

  /** The form with this stop in focus and the cursor behind its text. */
  focusOn(stop: number): Form {
    const focus = Math.max(0, Math.min(this.#last, stop));
    const field = this.#stops[focus]?.child.field;
    return this.with({ focus, cursor: field && 'text' in field ? field.text.length : 0 });
  }

  /** The form with what is wrong about it, and the first field with a fault in focus. */
  withFaults(faults: readonly SchemaFault[]): Form {
    const faulty = this.with({ faults });
    if (this.state.mode === 'raw') return faulty.focusOn(0);
    const { rows } = this;
    const wrong = new Set(faults.map(rowFinder(rows)));
    const first = rows.findIndex(row => wrong.has(row));
    if (first < 0) return faulty;
    return faulty.focusOn(rows.slice(0, first).filter(({ isStop }) => isStop).length);
  }

  /** The form with what the schema says besides; not of the examples that stood in for fields with a fault. */
  withOtherFaults(others: readonly SchemaFault[]): Form {
    const { faults } = this.state;
    const examples = faults.map(({ path }) => plain(path));
    const own = others.filter(({ path }) => !examples.some(example => isCausedBy(example, plain(path))));
    return own.length === 0 ? this : this.withFaults([...faults, ...own]);
  }

  /** The form without the faults of a row. */
  withoutFaultsOf({ path }: Row): Form {
    const { faults } = this.state;
    if (faults.length === 0) return this;
    const find = rowFinder(this.rows);
    return this.with({ faults: faults.filter(fault => find(fault)?.path !== path) });
  }

  /** The messages for each row; those of no row are under undefined. @param rows of this form */
  messages(rows: readonly Row[]): ReadonlyMap<Row | undefined, readonly string[]> {
    const find = rowFinder(rows);
    const messages = new Map<Row | undefined, string[]>();
    for (const fault of this.state.faults) {
      const row = find(fault);
      const rest = plain(fault.path).slice(row?.path.length ?? 0);
      const message = rest === '' || rest === '$' ? fault.message : `${rest} ${fault.message}`;
      messages.set(row, [...(messages.get(row) ?? []), message]);
    }
    return messages;
  }

  /** The form as JSON text, or its fields again. Text that is not a JSON object stays; unedited text leaves the fields as they were. */
  toggleRaw(): Form {
    const { mode, raw, root } = this.state;
    if (mode === 'fields') return this.with({ mode: 'raw', raw: rawOf(root), faults: [] }).focusOn(0);
    if (!this.hasFields) return this;
    if (raw.text === rawOf(root).text) return this.with({ mode: 'fields', faults: [] }).focusOn(0);
    const read = this.arguments();
    return read.ok ? Form.of(this.schema, read.value) : read.form;
  }

  /**
   * The arguments that were filled in; an empty optional field is left out. Faults are texts that cannot be read and required fields that
   * are empty; the `inputSchema` judges the rest, see `withFaults`.
   * @param demandsRequired false: required fields may be empty too
   */
  arguments(demandsRequired = true): FormArguments {
    if (this.state.mode === 'raw') return this.#rawArguments();
    const faults = faultsIn(this.#whole, demandsRequired);
    if (faults.length === 0) return this.#accept(fieldValue(this.state.root));
    return refused(this.withFaults(faults), withExamples(this.#whole, this.schema));
  }

  /** The cursor goes to a syntax error. */
  #rawArguments(): FormArguments {
    const { text } = this.state.raw;
    const read = readJsonText(text);
    if (read.ok) return this.#accept(read.value);
    const fault = jsonFault(text);
    const above = text.split('\n', (fault?.line ?? 1) - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const form = fault ? this.with({ raw: this.state.raw.at(above + fault.column - 1) }) : this;
    return refused(form.withFaults([{ path: '$', message: read.message }]));
  }

  #accept(value: unknown): FormArguments {
    if (isRecord(value)) return { ok: true, value };
    return refused(this.withFaults([{ path: '$', message: 'must be an object' }]));
  }
}

function refused(form: Form, others: unknown = null): FormArguments {
  return { ok: false, form, others: isRecord(others) ? others : null };
}

function rawOf(root: Field): TextInput {
  return new TextInput(JSON.stringify(fieldValue(root) ?? {}, null, 2), 0);
}

/** A key asks for the rows several times. */
const rowsOf = onceEach((field: Field): readonly Row[] => {
  const child: Child = { key: null, isRequired: true, isExtra: false, field };
  const row: Row = { kind: 'field', address: [], path: '$', depth: 0, child, isStop: true };
  return field.kind === 'object' ? [...rowsIn({ ...row, depth: -1 })] : [row, ...rowsIn(row)];
});

function* rowsIn(row: Row): Generator<Row> {
  const { field } = row.child;
  const children = 'children' in field ? field.children : [];
  for (const [index, child] of children.entries()) {
    const inner: Row = {
      kind: 'field',
      address: [...row.address, index],
      path: child.key === null ? row.path : plain(row.path + jsonPath([child.key]).slice(1)),
      depth: row.depth + 1,
      child,
      isStop: isStop(child),
    };
    // Under a variant, an object shows its members only, and a constant nothing.
    if (child.key === null && child.field.kind === 'object') yield* rowsIn({ ...inner, depth: row.depth });
    else if (child.key !== null || !isConstant(child.field)) yield* [inner, ...rowsIn(inner)];
  }
  if (field.kind === 'array' && children.length > 0)
    yield { ...row, kind: 'add', depth: row.depth + 1, isStop: true };
}

function isConstant(field: Field): boolean {
  return field.kind === 'choice' && field.values.length === 1;
}

/** A heading has the focus only where a key does something to it. */
function isStop({ field, isRequired, isExtra }: Child): boolean {
  if (field.kind === 'object') return !isRequired || isExtra;
  return field.kind !== 'array' || field.children.length === 0;
}

/** A key of digits is written in two ways. */
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

/** At the example, in it, or at the list that it is an item of. */
function isCausedBy(example: string, path: string): boolean {
  const isInside = path.startsWith(example) && /^(?:$|[.[])/.test(path.slice(example.length));
  return isInside || path === example.replace(/\[\d+\]$/, '');
}
