/** A pattern that somebody else wrote: some of its pieces stand for any number of parts, the others for one each. */
export interface Starred<Piece, Part> {
  isStar(piece: Piece): boolean;
  matches(piece: Piece, part: Part): boolean;
  /** Told of every step, so that whoever tries many patterns can stop. */
  onStep?(): void;
}

/**
 * Whether the pieces match all of the parts. Goes back only to the last star: what an earlier one took never has to be
 * tried again, so a hostile pattern costs at most (its length) x (the number of parts).
 */
export function matchesStarred<Piece, Part>(
  pieces: readonly Piece[],
  parts: readonly Part[],
  { isStar, matches, onStep }: Starred<Piece, Part>,
): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let retryFrom = 0;
  while (index < parts.length) {
    onStep?.();
    const piece = pieces[at];
    if (piece !== undefined && isStar(piece)) {
      star = at;
      retryFrom = index;
      at += 1;
    } else if (piece !== undefined && matches(piece, parts[index] as Part)) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      retryFrom += 1;
      index = retryFrom;
      at = star + 1;
    } else return false;
  }
  return pieces.slice(at).every(isStar);
}
