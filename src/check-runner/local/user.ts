/** Somebody that one command runs as. Numbers only: they have no account. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface UidRange {
  readonly first: number;
  readonly last: number;
}
