import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MessageReader } from './sse.ts';

const TEXT =
  ': hello\nid: 7\nevent: pull_request.merged\ndata: {"id":"7"}\n\nevent: queue.view\ndata: a\ndata: b\n\n: tick\n\n';

describe('the reader of the stream', () => {
  it('reads messages that arrive in pieces of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: TEXT.length })), (cuts) => {
        const reader = new MessageReader();
        const places = [0, ...cuts.sort((a, b) => a - b), TEXT.length];
        const read = places.slice(1).flatMap((end, index) => reader.read(TEXT.slice(places[index], end)));
        assert.deepEqual(read, [
          { id: '7', type: 'pull_request.merged', data: '{"id":"7"}' },
          { id: undefined, type: 'queue.view', data: 'a\nb' },
        ]);
      }),
    );
  });
});
