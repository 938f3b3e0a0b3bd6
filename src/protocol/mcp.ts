import * as z from 'zod/mini';
import { isRecord, recordOf } from '../util/values.js';
import type { UserChoice } from './callbacks.js';

/** The parameters of `notifications/progress`. */
export const progressSchema = z.object({
  progress: z.number(),
  total: z.optional(z.number()),
  message: z.optional(z.string()),
});

/** The parameters of `elicitation/create` in form mode. */
export const elicitationSchema = z.object({
  mode: z.optional(z.literal('form')),
  message: z.string(),
  requestedSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.record(z.string(), z.unknown())),
    required: z.optional(z.array(z.string())),
  }),
});

export type Elicitation = z.infer<typeof elicitationSchema>;

/** One of the values that a field of a form allows. */
interface FormOption {
  readonly value: unknown;
  readonly label: string;
}

/** The values that a field allows; null if it allows any value. */
export function optionsOf(field: Readonly<Record<string, unknown>>): readonly FormOption[] | null {
  if (field['type'] === 'boolean')
    return [true, false].map(value => ({ value, label: value ? 'yes' : 'no' }));
  const titled = field['oneOf'] ?? field['anyOf'];
  if (Array.isArray(titled) && titled.length > 0 && titled.every(each => isRecord(each) && 'const' in each))
    return titled.map(({ const: value, title }) => ({ value, label: words(title ?? value) }));
  const { enum: values, enumNames: names } = field;
  if (!Array.isArray(values) || values.length === 0) return null;
  const labels: readonly unknown[] = Array.isArray(names) ? names : [];
  return values.map((value, index) => ({ value, label: words(labels[index] ?? value) }));
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A form with one field that allows certain values: a choice. */
interface FormChoice {
  readonly field: string;
  readonly options: readonly FormOption[];
  /** Index of the default option. */
  readonly preset: number;
}

export function choiceOf({ requestedSchema: { properties } }: Elicitation): FormChoice | null {
  const [[field, property] = ['', {}], ...others] = Object.entries(properties);
  const options = optionsOf(property);
  if (others.length > 0 || options === null) return null;
  const preset = options.findIndex(({ value }) => value === property['default']);
  return { field, options, preset: Math.max(0, preset) };
}

/** The actions offered after the options of a choice. */
const OTHER_ACTIONS = ['decline', 'cancel'] as const;

const MAX_NAMED = 20;

/** Turns a form into a question with choices: the options of its only field, or whether to fill it in. */
export function questionOf(
  form: Elicitation,
  { group, id }: { readonly group: string; readonly id: string },
) {
  const choice = choiceOf(form);
  const fields = Object.keys(form.requestedSchema.properties);
  const rest = fields.length > MAX_NAMED ? ', …' : '';
  const asked = choice || fields.length === 0 ? '' : ` (${fields.slice(0, MAX_NAMED).join(', ')}${rest})`;
  return {
    type: 'user_choice',
    group_id: group,
    id,
    prompt: form.message + asked,
    choices: [...(choice ? choice.options.map(({ label }) => label) : ['accept']), ...OTHER_ACTIONS],
    default: choice?.preset ?? 0,
    response_url: '',
  } satisfies UserChoice;
}

/** The default values of a form. */
export function defaultsOf({ requestedSchema: { properties } }: Elicitation): Record<string, unknown> {
  const entries = Object.entries(properties).map(([name, property]) => [name, property['default']] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The answer for a choice of {@link questionOf}. */
export function answerOf(form: Elicitation, selected: number) {
  const choice = choiceOf(form);
  const action = OTHER_ACTIONS[selected - (choice?.options.length ?? 1)];
  if (action) return { action, selected };
  const content = choice ? { [choice.field]: choice.options[selected]?.value } : defaultsOf(form);
  return { action: 'accept', content, selected } as const;
}

/** The index of an answer to a form in the choices of {@link questionOf}; the reverse of {@link answerOf}. */
export function selectedIn(form: Elicitation, answer: Readonly<Record<string, unknown>>): number {
  const choice = choiceOf(form);
  const other = (OTHER_ACTIONS as readonly unknown[]).indexOf(answer['action']);
  if (other >= 0) return (choice?.options.length ?? 1) + other;
  const picked = choice && recordOf(answer['content'])[choice.field];
  return Math.max(0, choice?.options.findIndex(({ value }) => value === picked) ?? 0);
}
