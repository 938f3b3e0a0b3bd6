import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ours } from './programs.mjs';

const HOOK = fileURLToPath(new URL('./report-peak.cjs', import.meta.url));
const MIB = 1024 * 1024;
const SIZES = [8 * MIB, 32 * MIB, 60 * MIB];
const KINDS = ['ascii', 'mixed'];

/** A text of n bytes: six copies of it, and what the program itself takes. */
const limitOf = bytes => 6 * bytes + 150_000_000;

/** The highest memory of `-o text` for texts of several sizes and kinds. */
export async function measureMemory(withTool) {
  const measured = [];
  for (const kind of KINDS)
    for (const bytes of SIZES) {
      const peak = await withTool(url => peakOf(url, bytes, kind));
      const limit = limitOf(bytes);
      measured.push({ kind, bytes, peak, limit, isMet: peak <= limit });
    }
  return measured;
}

async function peakOf(url, bytes, kind) {
  // Escaped in JSON, a control character takes six bytes.
  const call = ours(
    'invoke',
    url,
    'big',
    `bytes=${bytes}`,
    `kind=${kind}`,
    '-q',
    '--max-body',
    '1g',
    '-o',
    'text',
  );
  const child = spawn(process.execPath, ['--require', HOOK, ...call], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [printed, complaint, peakKiB, [status]] = await Promise.all([
    sizeOf(child.stdout),
    text(child.stderr),
    text(child.stdio[3]),
    once(child, 'close'),
  ]);
  if (status !== 0 || printed !== bytes)
    throw new Error(`${bytes} bytes of ${kind}: ${printed} came, status ${status}: ${complaint}`);
  return Number(peakKiB) * 1024;
}

async function sizeOf(stream) {
  let size = 0;
  for await (const chunk of stream) size += chunk.length;
  return size;
}
