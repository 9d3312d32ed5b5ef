import type { CheckRunDraft, CommentDraft, PageWriter, PairedAnswers } from '../../forge/hosting.ts';

/** Pairs the writers of the comment and of the check run, which work at the same time. */
export interface PairedWriter extends Required<Pick<PageWriter, 'writeComment' | 'writeCheck'>> {
  /** Nothing is left to write for this part, so that the other one need not wait. */
  skip(part: keyof PairedAnswers): void;
}

/** The first comment and check run are sent as one request if the forge takes both. Later writes go alone. */
export function createPairedWriter(hosting: PageWriter): PairedWriter {
  const comment = Promise.withResolvers<CommentDraft | undefined>();
  const check = Promise.withResolvers<CheckRunDraft | undefined>();
  const both = writeFirst(hosting, comment.promise, check.promise);
  // Both writers get the error from `first`; without any writer it must not be unhandled.
  both.catch(() => undefined);
  const begun = new Set<keyof PairedAnswers>();
  const first = async (part: keyof PairedAnswers) => {
    if (begun.has(part)) return undefined;
    begun.add(part);
    return (await both)?.[part];
  };
  return {
    async writeComment(draft) {
      comment.resolve(draft);
      const answer = await first('comment');
      return answer === undefined ? hosting.writeComment(draft) : settled(answer);
    },
    async writeCheck(draft) {
      check.resolve(draft);
      const answer = await first('check');
      return answer === undefined ? hosting.writeCheck?.(draft) : settled(answer);
    },
    skip(part) {
      if (part === 'comment') comment.resolve(undefined);
      else check.resolve(undefined);
    },
  };
}

async function writeFirst(
  hosting: PageWriter,
  ofComment: Promise<CommentDraft | undefined>,
  ofCheck: Promise<CheckRunDraft | undefined>,
): Promise<PairedAnswers | undefined> {
  const [comment, check] = await Promise.all([ofComment, ofCheck]);
  return comment === undefined || check === undefined ? undefined : hosting.writePaired?.({ comment, check });
}

function settled<Value>(result: PromiseSettledResult<Value>): Value {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
