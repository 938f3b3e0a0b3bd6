import { definitionsIn, type Server } from './world.js';

/** How many configured toolsets define an operation of this server (RT-TOOLSET). @param server its id */
export function rivalsOf(server: string, operation: string, servers: readonly Server[]): number {
  const isConfigured = servers.some(each => each.id === server && each.isConfigured);
  return isConfigured ? (definitionsIn(servers).get(operation) ?? 1) : 1;
}

/** Why it cannot be called. */
export function rivalWords(rivals: number): string {
  return `${rivals} configured toolsets define it, so none of them is used (RT-TOOLSET)`;
}
