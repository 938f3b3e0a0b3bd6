import * as fs from 'node:fs/promises';
import type { Files } from '../../../src/system/files.js';

export interface Disk extends Files {
  isFull: boolean;
  /** Takes only half of what it is given, which is allowed. */
  isShort: boolean;
  /** Of the appending handle: how often it was written to, and synchronised. */
  writes: number;
  syncs: number;
}

const FULL = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });

/** The real disk, that can be full: then half of what is to be appended is written, and the call fails. */
export function disk(): Disk {
  const { link, lstat, rename } = fs;
  const state: Disk = {
    isFull: false,
    isShort: false,
    writes: 0,
    syncs: 0,
    link,
    lstat,
    rename,
    open: async (...parameters) => watched(await fs.open(...parameters), state),
  };
  return state;
}

function watched(handle: fs.FileHandle, state: Disk): fs.FileHandle {
  const write = async (bytes: Uint8Array, offset: number, length: number, position: number) => {
    state.writes++;
    const done = await handle.write(
      bytes,
      offset,
      state.isFull || state.isShort ? Math.ceil(length / 2) : length,
      position,
    );
    if (state.isFull) throw FULL;
    return done;
  };
  const datasync = async () => {
    state.syncs++;
    await handle.datasync();
  };
  const own: Readonly<Record<PropertyKey, unknown>> = { write, datasync };
  return new Proxy(handle, {
    get(target, name) {
      const value = own[name] ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
