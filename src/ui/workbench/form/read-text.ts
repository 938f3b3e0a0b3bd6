import { diagnose, MAX_DEPTH } from '../../../text/json-diagnosis.js';
import { jsonFault } from '../../../text/json-fault.js';
import { scanJson } from '../../../text/json-scan.js';
import type { TextField } from './field.js';

/** What a text means; undefined where it is empty and that is no value. */
export type TextReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

export function readText({ kind, text, sendsEmpty, schema }: TextField): TextReading {
  if (text === '' && !sendsEmpty) return { ok: true, value: undefined };
  if (kind === 'text') return { ok: true, value: text };
  return kind === 'number' ? readNumber(text, schema['type'] === 'integer') : readJsonText(text);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(typed: string, isInteger: boolean): TextReading {
  const text = typed.trim();
  if (!NUMBER.test(text))
    return {
      ok: false,
      message: `must be ${isInteger ? 'an integer' : 'a number'}, as 42${isInteger ? '' : ' or -0.5'}`,
    };
  const value = Number(text);
  if (isInteger && !Number.isInteger(value)) return { ok: false, message: 'must be an integer' };
  const message = inexact(text);
  return message === null ? { ok: true, value } : { ok: false, message };
}

/** JSON typed by hand: where it is none, the fault says at which line and column. */
export function readJsonText(text: string): TextReading {
  const { isTooDeep, notes } = diagnose(text);
  if (isTooDeep) return { ok: false, message: `is nested deeper than ${MAX_DEPTH} levels` };
  const fault = jsonFault(text);
  if (fault) return { ok: false, message: `line ${fault.line}, column ${fault.column}: ${fault.message}` };
  const message = inexactIn(text) ?? notes.find(note => note.startsWith('the key ')) ?? null;
  return message === null ? { ok: true, value: JSON.parse(text) } : { ok: false, message };
}

function inexactIn(text: string): string | null {
  let message: string | null = null;
  scanJson(text, (kind, from, to) => {
    if (kind === 'scalar') message = inexact(text.slice(from, to));
    return message === null;
  });
  return message;
}

/** Why a number would be sent as another one. */
function inexact(literal: string): string | null {
  const value = Number(literal);
  if (Number.isNaN(value) || String(value) === literal) return null;
  const named = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal;
  if (!Number.isFinite(value)) return `${named} is too large to be held`;
  const isOther = Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(literal);
  return isOther ? `${named} cannot be held exactly: it would become ${value}` : null;
}
