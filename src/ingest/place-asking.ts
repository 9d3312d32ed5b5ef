import { type PlaceQuestion, UNKNOWN_PLACE, type UploadPlace } from '../flaky/upload-place.ts';
import type { Timing } from '../lib/clock.ts';
import type { FromThread } from './thread-messages.ts';

/** A forge that takes longer counts as unavailable, so that uploads do not wait for it. */
const ANSWER_MS = 10_000;

/** The thread's side of its questions to the main thread, which alone has access to forges. */
export function createPlaceAsking(say: (message: FromThread) => void, clock: Timing) {
  const open = new Map<number, (place: UploadPlace) => void>();
  let lastNo = 0;
  return {
    find(question: PlaceQuestion): Promise<UploadPlace> {
      lastNo += 1;
      const no = lastNo;
      const { promise, resolve } = Promise.withResolvers<UploadPlace>();
      open.set(no, resolve);
      const cancel = clock.after(ANSWER_MS, () => resolve(UNKNOWN_PLACE));
      say({ kind: 'where', no, question });
      return promise.finally(() => {
        cancel();
        open.delete(no);
      });
    },
    answer(no: number, place: UploadPlace | undefined): void {
      open.get(no)?.(place ?? UNKNOWN_PLACE);
    },
  };
}
