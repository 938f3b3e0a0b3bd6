import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { Tool } from '../../protocol/toolset.js';
import { isRecord } from '../../text/is-record.js';
import type { ToolsetFields } from '../answers/operations.js';

/** What `tools/list` tells of a toolset. */
export function toolList({ tools }: ToolsetFields): McpTool[] {
  return tools.map(({ name, description, inputSchema, outputSchema, annotations }) => ({
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' }, // which arguments always are; MCP wants it said
    ...(isRecord(outputSchema) && { outputSchema: { ...outputSchema, type: 'object' as const } }),
    ...(annotations && { annotations: hintsOf(annotations) }),
  }));
}

function hintsOf({ readOnly, destructive, idempotent }: NonNullable<Tool['annotations']>) {
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
  };
}
