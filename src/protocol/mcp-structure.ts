import { checkValue } from '../json-schema/validator.js';
import { joinFirst } from '../util/text.js';
import { isRecord } from '../util/values.js';

/** Maximum number of faults that are named. */
const MAX_FAULTS = 5;

/** Returns how a successful CallToolResult misses or breaks the `outputSchema` of its tool; null if it does not. */
export async function structureFault(outputSchema: unknown, result: unknown): Promise<string | null> {
  if (!isRecord(outputSchema) || !isRecord(result) || result['isError'] === true) return null;
  if (isRecord(result['error'])) return null; // a JSON-RPC error instead of a result
  const { structuredContent } = result;
  if (structuredContent === undefined)
    return 'the tool has an outputSchema, but its result has no structuredContent';
  const check = await checkValue(outputSchema, structuredContent);
  switch (check.kind) {
    case 'valid':
      return null;
    case 'invalid': {
      const faults = check.faults.map(({ path, message }) => `${path} ${message}`);
      return `structuredContent does not match the outputSchema: ${joinFirst(faults, MAX_FAULTS)}`;
    }
    case 'unusable':
      return `structuredContent was not checked: the outputSchema cannot be used: ${check.reason}`;
  }
}
