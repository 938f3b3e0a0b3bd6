import { definitionsIn, type Server } from './world.js';

/** How many configured toolsets define an operation of this server (RT-TOOLSET). @param definitions of all servers, see `definitionsIn` */
export function rivalsOf(
  { isConfigured }: Server,
  operation: string,
  definitions: ReadonlyMap<string, number>,
): number {
  return isConfigured ? (definitions.get(operation) ?? 1) : 1;
}

/** The same of the server with this id; one that is gone has none. */
export function rivalsAt(id: string, operation: string, servers: readonly Server[]): number {
  const server = servers.find(each => each.id === id);
  return server ? rivalsOf(server, operation, definitionsIn(servers)) : 1;
}

/** Why it cannot be called. */
export function rivalWords(rivals: number): string {
  return `${rivals} configured toolsets define it, so none of them is used (RT-TOOLSET)`;
}
