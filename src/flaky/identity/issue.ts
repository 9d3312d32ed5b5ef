/** `error`: a part of the upload is not used. `warning`: it is used, but may mislead. `info`: it could say more. */
export type IssueLevel = 'error' | 'warning' | 'info';

/** An issue that the list of uploads shows about a report, a bundle or its attachments. */
export interface Issue {
  readonly level: IssueLevel;
  /** The file of the upload; null: all of it. */
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  /** The advice to the reader. */
  readonly hint: string;
}

export interface IssueList {
  add(issue: Issue): void;
  /** The first issues, and a last one that counts those left out. */
  list(): readonly Issue[];
}

/** Hostile input has millions of faults, and the first ones say enough. */
const MAX_ISSUES = 100;

export function createIssueList(max = MAX_ISSUES): IssueList {
  const kept: Issue[] = [];
  let leftOut = 0;
  return {
    add: (issue) => {
      if (kept.length < max) kept.push(issue);
      else leftOut += 1;
    },
    list: () => {
      if (leftOut === 0) return kept;
      const message = `${leftOut} further issues are not listed.`;
      return [...kept, { level: 'warning', file: null, line: null, message, hint: 'Mend those listed first.' }];
    },
  };
}
