import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { bigText } from '../peers/big-text.mjs';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { resultFor, startTool } from './support/own-tool.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv, run, runShell, shellLine, start } from './support/program.js';
import { firstDifference, STACK_LINE, unsafeIn } from './support/text.js';

const MiB = 1024 * 1024;

/** `-o text`: stdout is what the LLM gets, byte for byte. */
let plain: Peer;

beforeAll(async () => {
  plain = await startPeer('plain');
});
afterAll(() => plain.stop());

const textOf = (peer: Peer, ...call: string[]) => ['invoke', peer.url, ...call, '-o', 'text'];

describe.concurrent('RT-TEXT: stdout is exactly the text for the LLM', () => {
  it('10 MiB, mixed (CR LF, NUL, emoji)', async () => {
    const { status, bytes, stderr } = await run(textOf(plain, 'big', `bytes=${10 * MiB}`, 'kind=mixed'));
    expect(status).toBe(0);
    expect(firstDifference(bytes, Buffer.from(bigText(10 * MiB, 'mixed')))).toBeNull();
    expect(unsafeIn(stderr)).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['no line feed at the end', 'a'],
    ['line ends of all kinds', 'a\r\nb\rc\n\n'],
    ['NUL and other controls', 'a\0b\u001b[31m\u009b'],
    ['emoji across a chunk of 64 KiB', `${'x'.repeat(64 * 1024 - 1)}😀${'y'.repeat(64 * 1024)}👩‍👩‍👧`],
    ['a byte-order mark', '\ufeffa'],
    ['U+2028, bidi, zero width', 'a\u2028\u202e\u200b'],
  ])('%s', async (_, text) => {
    await using tool = await startTool({ say: { callbacks: call => [resultFor(call, text)] } });
    const { status, bytes, stderr } = await runHere(argv`invoke ${tool.url} say -o text`);
    expect(status).toBe(0);
    expect(firstDifference(bytes, Buffer.from(text))).toBeNull();
    expect(unsafeIn(stderr)).toEqual([]);
  });

  it('-v shows the beginning of a large text, and stdout stays complete', async () => {
    const { status, bytes, stderr } = await runHere(argv`
      ${textOf(plain, 'big', `bytes=${2 * MiB}`, 'kind=mixed')} -v
    `);
    expect(status).toBe(0);
    expect(firstDifference(bytes, Buffer.from(bigText(2 * MiB, 'mixed')))).toBeNull();
    expect(stderr).toMatch(/^… \d{7} more characters$/m);
  });

  it('-o text is the default in a pipe', async () => {
    const { stdout } = await run(argv`invoke ${plain.url} echo text=a`);
    expect(stdout).toBe('a');
  });

  it('a segment that runtimes refuse is a warning on stderr, as in the other outputs', async () => {
    const display_as = [{ type: 'text', content: 2 }];
    await using tool = await startTool({
      ask: {
        callbacks: ({ id, group_id }) => [
          JSON.stringify({ type: 'tool_result', id, group_id, text: 'done', display_as }),
        ],
      },
    });
    const { status, stdout, stderr } = await runHere(['invoke', tool.url, 'ask', '-o', 'text']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'done' });
    expect(stderr).toMatch(/^warning: display_as\[0\]: malformed text: .* \[TOOL-POST\]$/m);
  });

  it('a lone surrogate becomes U+FFFD, with a warning', async () => {
    await using tool = await startTool({
      say: { callbacks: call => [resultFor(call, 'a\ud800b\udc00\ud83d\ude00')] },
    });
    const { bytes, stderr } = await runHere(argv`invoke ${tool.url} say -o text`);
    expect(bytes.toString('hex')).toBe(Buffer.from('a\ufffdb\ufffd😀').toString('hex'));
    expect(stderr).toMatch(/^warning: .*lone surrogate.*U\+FFFD/m);
  });
});

describe.concurrent('row 30: slow readers and closed pipes', () => {
  it('a reader that starts late loses nothing', async () => {
    await using peer = await startPeer('plain');
    const { child } = start(textOf(peer, 'big', `bytes=${MiB}`, 'kind=mixed'));
    child.stdout.pause();
    await peer.seen('delivery', ({ status }) => status === 200);
    const [bytes] = await Promise.all([buffer(child.stdout), once(child, 'exit')]);
    expect(firstDifference(bytes, Buffer.from(bigText(MiB, 'mixed')))).toBeNull();
  });

  it.each([['--help'], ['toolset', '--demo']])('%s %s | true ends quietly', async (...words) => {
    const { stderr } = await runShell(`${shellLine(words.filter(word => word !== undefined))} | true`);
    expect(stderr).toBe('');
  });

  it.each(['text', 'ndjson'])('-o %s | head -1 ends quietly', async output => {
    const line = shellLine(argv`invoke ${plain.url} big bytes=${MiB} kind=mixed -o ${output}`);
    const { stderr, stdout } = await runShell(`${line} | head -1 | wc -l; echo "status \${PIPESTATUS[0]}"`);
    expect(stdout).toMatch(/^\s*1\nstatus 0\n$/);
    expect(stderr).not.toMatch(STACK_LINE);
    expect(stderr).not.toMatch(/EPIPE|internal error/);
  });

  it.each(['text', 'ndjson'])(
    '-o %s on a full disk: an error, exit 2, and --save is complete',
    async output => {
      await using folder = await temporaryFolder();
      const saved = folder.file('saved.ndjson');
      const line = shellLine(argv`invoke ${plain.url} echo text=hi -o ${output} --save ${saved}`);
      const { status, stderr } = await runShell(`${line} > /dev/full`);
      expect([status, stderr]).toEqual([
        2,
        expect.stringMatching(/^error: cannot write the output: ENOSPC/m),
      ]);
      const { faults, end } = readTranscript((await readFile(saved, 'utf8')).trim().split('\n'));
      expect([faults, end]).toEqual([[], expect.stringMatching(/^(?:done|unwritable-file)$/)]);
    },
  );

  it('a closed stderr does no harm', async () => {
    const line = shellLine(argv`invoke ${plain.url} echo ${'text=whole\n'} -o text -v`);
    const { stdout } = await runShell(`${line} 2> >(head -1 >/dev/null)`);
    expect(stdout).toBe('whole\n');
  });

  it('a pipe of more than 64 KiB through another program loses nothing', async () => {
    const line = shellLine(textOf(plain, 'big', `bytes=${3 * MiB + 1}`));
    const { stdout } = await runShell(`${line} | cat | wc -c`);
    expect(Number(stdout)).toBe(3 * MiB + 1);
  });
});
