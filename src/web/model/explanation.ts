interface Reason {
  readonly text: string;
  readonly reasons: readonly Reason[];
}

interface Explanation<R> {
  readonly headline: string;
  readonly reasons: readonly R[];
}

/** The most important reason: the sentence that a list has room for. */
export function sentenceOf({ headline, reasons }: Explanation<Reason>): string {
  return reasons[0]?.text ?? headline;
}

/** The reasons behind that sentence, which is not repeated. */
export function furtherReasons<R extends { readonly reasons: readonly R[] }>({
  reasons,
}: Explanation<R>): readonly R[] {
  const [first, ...others] = reasons;
  return first === undefined ? [] : [...first.reasons, ...others];
}
