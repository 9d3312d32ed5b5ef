/** A pattern from user input. A star piece matches any number of parts, every other piece matches one part. */
export interface Starred<Piece, Part> {
  isStar(piece: Piece): boolean;
  matches(piece: Piece, part: Part): boolean;
  /** Whether a star matches the part. Absent: always. No piece matches both a part that a star may and one it may not. */
  mayPass?(part: Part): boolean;
  /** Called at every step, so that a caller with many patterns can stop. */
  onStep?(): void;
}

/** Only the last star is tried again. A hostile pattern costs at most (its length) x (the number of parts). */
export function matchesStarred<Piece, Part>(
  pieces: readonly Piece[],
  parts: readonly Part[],
  { isStar, matches, mayPass, onStep }: Starred<Piece, Part>,
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
    } else if (star >= 0 && (mayPass === undefined || mayPass(parts[retryFrom] as Part))) {
      retryFrom += 1;
      index = retryFrom;
      at = star + 1;
    } else return false;
  }
  return pieces.slice(at).every(isStar);
}
