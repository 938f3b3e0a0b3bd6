import { array, assert, boolean, nat, property, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { announcedLength, ByteGatherer } from '../../src/http/body.js';

describe('gathering bytes', () => {
  it('row 15: gives back what came, up to the limit, whatever the chunks and the announcement', () => {
    assert(
      property(
        array(uint8Array()),
        nat(200),
        boolean(),
        nat(300),
        (chunks, limit, isAnnounced, announced) => {
          const whole = Buffer.concat(chunks);
          const gatherer = new ByteGatherer(limit, isAnnounced ? announced : Number.NaN);
          const fitted = chunks.every(chunk => gatherer.add(chunk));
          expect(fitted).toBe(whole.length <= limit);
          if (fitted) expect(Buffer.from(gatherer.bytes())).toEqual(whole);
          else expect(Buffer.from(gatherer.bytes())).toEqual(whole.subarray(0, limit));
        },
      ),
    );
  });

  it('copies nothing where the length was announced', () => {
    const gatherer = new ByteGatherer(10, 4);
    gatherer.add(new Uint8Array([1, 2, 3, 4]));
    expect(gatherer.bytes()).toBe(gatherer.bytes());
  });

  it('knows the announced length', () => {
    expect(announcedLength({ 'content-length': '12' })).toBe(12);
    expect(announcedLength({})).toBeNaN();
  });
});
