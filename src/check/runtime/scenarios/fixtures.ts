/** Parts of fixture files that several scenarios use. */

/** A call of this operation gets this text. @param more faults, conditions */
export function answers(operation: string, payload: string, more: object = {}): object {
  return { match: { operation }, reply: { payload }, ...more };
}

export function tool(name: string, inputSchema: object = { type: 'object' }): object {
  return { name, description: `The operation ${name}`, inputSchema };
}
