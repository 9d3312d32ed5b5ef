import type { BothAnswers, CheckRunDraft, CommentDraft, Hosting } from '../../forge/hosting.ts';

/** For one who writes a comment and one who writes a check at the same time. */
export interface Pen extends Pick<Hosting, 'writeComment' | 'writeCheck'> {
  /** There is nothing more to write: nobody waits for it. */
  putDown(part: keyof BothAnswers): void;
}

/** The first comment and the first check wait for each other and are written as one; what comes after that, by itself. */
export function createPen(hosting: Hosting): Pen {
  const comment = Promise.withResolvers<CommentDraft | undefined>();
  const check = Promise.withResolvers<CheckRunDraft | undefined>();
  const both = writeFirst(hosting, comment.promise, check.promise);
  // Whoever wrote hears of it; nobody may have.
  both.catch(() => undefined);
  const begun = new Set<keyof BothAnswers>();
  const first = async (part: keyof BothAnswers) => {
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
      return answer === undefined ? hosting.writeCheck(draft) : settled(answer);
    },
    putDown(part) {
      if (part === 'comment') comment.resolve(undefined);
      else check.resolve(undefined);
    },
  };
}

async function writeFirst(
  hosting: Hosting,
  ofComment: Promise<CommentDraft | undefined>,
  ofCheck: Promise<CheckRunDraft | undefined>,
): Promise<BothAnswers | undefined> {
  const [comment, check] = await Promise.all([ofComment, ofCheck]);
  return comment === undefined || check === undefined ? undefined : hosting.writeBoth({ comment, check });
}

function settled<Value>(result: PromiseSettledResult<Value>): Value {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
