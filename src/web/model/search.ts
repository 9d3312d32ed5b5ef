interface Named {
  readonly prNumber: number;
  readonly prTitle: string;
  readonly prAuthor: string;
}

/** A search for `#12` or `12` asks for a pull request by its number. */
export function numberOf(text: string): number | undefined {
  const digits = /^#?([1-9]\d{0,8})$/.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Every word must be in one of the texts, in any case. */
export function fits(text: string, ...texts: readonly string[]): boolean {
  const within = texts.join('\n').toLowerCase();
  return wordsOf(text).every((word) => within.includes(word));
}

function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Pull requests that fit: that of the number, those whose number begins with it, then the others as they came. */
export function findPullRequests<T extends Named>(entries: readonly T[], text: string, most: number): readonly T[] {
  const number = numberOf(text);
  const rankOf = ({ prNumber }: T) => {
    if (number === undefined) return 2;
    if (prNumber === number) return 0;
    return String(prNumber).startsWith(String(number)) ? 1 : 2;
  };
  return entries
    .filter((entry) => rankOf(entry) < 2 || fits(text, entry.prTitle, entry.prAuthor))
    .map((entry, index) => ({ entry, index, rank: rankOf(entry) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .slice(0, most)
    .map(({ entry }) => entry);
}
