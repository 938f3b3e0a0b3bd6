import { Content } from '../exchange/content.js';
import { isRecord } from '../text/is-record.js';
import { decodeUtf8 } from '../text/json.js';
import { withStringMember } from '../text/json-members.js';

/** The direct members of a message; of what is no JSON object none. */
export function fieldsOf(body: Content | undefined): Readonly<Record<string, unknown>> {
  return body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
}

/** A string of a message; undefined where it has none of that name. */
export function stringIn(body: Content | undefined, name: string): string | undefined {
  const value = fieldsOf(body)[name];
  return typeof value === 'string' ? value : undefined;
}

/** A JSON object with another string in the place of one that it has, and byte for byte as it was otherwise. */
export function withString(body: Content, name: string, value: string): Content {
  const bytes = Buffer.from(withStringMember(decodeUtf8(body.bytes) ?? '', name, value));
  const { json } = body;
  return json.ok && isRecord(json.value)
    ? Content.withJson(bytes, { ...json, value: { ...json.value, [name]: value } })
    : new Content(bytes);
}
