/** A uid and gid for one command, without an account. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface UidRange {
  readonly first: number;
  readonly last: number;
}
