import { describe, expect, test } from 'vitest';
import { planRecord, type RecordFlags } from '../../../src/commands/record/run.js';
import { errorOf } from '../../support/failing.js';

const URL = 'http://127.0.0.1:3001';
const FLAGS: RecordFlags = {
  host: '127.0.0.1',
  port: 0,
  maxBody: 1,
  drain: 2,
  output: 'plain',
  color: true,
};
const SAVED: RecordFlags = { ...FLAGS, save: 'session.ndjson' };

describe('the plan of record', () => {
  test('passes the options to the recorder', () => {
    const flags: RecordFlags = {
      ...SAVED,
      allowHost: ['recorder'],
      callbackUrl: 'http://recorder:3002',
      allowCallback: ['http://runtime:3000'],
    };
    expect(planRecord(URL, flags)).toEqual({
      file: 'session.ndjson',
      recorder: {
        url: URL,
        host: '127.0.0.1',
        port: 0,
        maxBody: 1,
        drainMs: 2,
        allowHosts: ['recorder'],
        callbackBase: 'http://recorder:3002',
        allowCallbacks: ['http://runtime:3000'],
      },
    });
  });

  test('accepts a short URL', () => {
    expect(planRecord(':3001', SAVED).recorder.url).toBe(URL);
  });

  test('needs no file with -o ndjson', () => {
    expect(planRecord(URL, { ...FLAGS, output: 'ndjson' }).file).toBeNull();
  });

  test.each<[string, RecordFlags, string, string]>([
    [URL, FLAGS, 'no output for the recording', 'Add --save <file>, or -o ndjson for stdout.'],
    [URL, { ...FLAGS, save: '-' }, '--save needs a file name', '-o ndjson writes the transcript to stdout.'],
    ['tool', SAVED, 'invalid URL: tool', 'Give the base URL of the tool, such as http://127.0.0.1:3001.'],
    ['ftp://tool', SAVED, 'unsupported URL: ftp://tool; use http or https', 'Write http://host:port.'],
    [
      'http://me:secret@tool',
      SAVED,
      'the URL of the tool contains a user name or password',
      'Remove them: the recorder forwards the headers of the runtime to the tool.',
    ],
  ])('%s with %o is refused: %s', async (url, flags, message, hint) => {
    expect(await errorOf(() => planRecord(url, flags))).toMatchObject({ code: 'usage', message, hint });
  });
});
