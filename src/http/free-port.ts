import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Whether another program serves a port, though the system would let us listen there: macOS does beside one that listens on all
 * addresses, and then the requests that were meant for one reach the other.
 */
export async function isServed(
  address: string,
  port: number,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  if (platform !== 'darwin' || port === 0) return false;
  const socket = connect({ host: address, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
