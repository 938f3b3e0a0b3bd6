/** The versions of MCP that protocol-cli supports, newest first. */
export const MCP_VERSIONS = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;

export type McpVersion = (typeof MCP_VERSIONS)[number];

/** The first version without `initialize`: each request carries its version. */
export const WITHOUT_INITIALIZE: McpVersion = '2026-07-28';

/** The supported versions that a connection begins with `initialize`. */
export const WITH_INITIALIZE: readonly McpVersion[] = MCP_VERSIONS.filter(
  version => version < WITHOUT_INITIALIZE,
);
