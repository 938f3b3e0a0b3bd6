import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** More files than the watchdog of `node:vm` opens. */
const COUNT = 8;

const spareFiles: number[] = [];

/**
 * Runs code with open files in reserve, which are closed for it. If the watchdog of `node:vm` cannot open its files, because the process
 * has as many as it may have, Node ends the process (threats, row 33).
 * @throws an error of the system if the reserve cannot be opened
 */
export function withSpareFiles(run: () => void): void {
  openSpareFiles();
  for (const file of spareFiles.splice(0)) closeSync(file);
  try {
    run();
  } finally {
    try {
      openSpareFiles(); // at once, before other code takes their places
    } catch {} // the next call tries again
  }
}

function openSpareFiles(): void {
  while (spareFiles.length < COUNT) spareFiles.push(openSync(devNull, 'r'));
}
