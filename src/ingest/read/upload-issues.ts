import { maskSecrets } from '../../flaky/failure-group.ts';
import type { Issue } from '../../flaky/identity/issue.ts';
import type { SetupErrors } from '../../junit/setup-case.ts';
import { ownText } from './read-limits.ts';

export interface UploadIssues {
  add(issue: Issue): void;
  /** For an issue that matters more than all others. */
  addFirst(issue: Issue): void;
  /** Tells of the cases of a file that are no tests; null: the list of runs of a bundle. */
  addSetup(file: string | null, errors: SetupErrors): void;
  /** The first of them, as a sentence; null: there are none. */
  readonly setupProblem: string | null;
  /** Errors first; a last issue counts those left out. */
  list(): readonly Issue[];
}

/** For a second reading of the same bytes. */
export const NO_ISSUES: UploadIssues = {
  add: () => {},
  addFirst: () => {},
  addSetup: () => {},
  setupProblem: null,
  list: () => [],
};

export const OF_FORK: Issue = {
  level: 'info',
  file: null,
  line: null,
  message: 'The commit is of a fork: its runs count in figures and feed no monitor.',
  hint: 'Nothing is wrong with that.',
};

const NO_TESTS = 'They are no tests: something did not compile, load or set up. Its tests did not run.';

/** Limits per level, so that thousands of hints never hide an error. */
const MOST = { error: 100, warning: 60, info: 40 } as const;
const MAX_FILE_LENGTH = 300;
const MAX_TEXT_LENGTH = 500;

// SPEC U69
export function createUploadIssues(): UploadIssues {
  const kept: Record<Issue['level'], Issue[]> = { error: [], warning: [], info: [] };
  const first: Issue[] = [];
  let leftOut = 0;
  let setupProblem: string | null = null;
  return {
    get setupProblem() {
      return setupProblem;
    },
    addSetup(file, errors) {
      const told = errors.tell();
      if (told === null) return;
      const message = maskSecrets(told);
      setupProblem ??= `${file ?? 'The list of runs'} holds ${message}`;
      this.add({ level: 'warning', file, line: null, message, hint: NO_TESTS });
    },
    addFirst: (issue) => void first.push(shorten(issue)),
    add(issue) {
      const ofLevel = kept[issue.level];
      if (ofLevel.length < MOST[issue.level]) ofLevel.push(shorten(issue));
      else leftOut += 1;
    },
    list() {
      const all = [...first, ...kept.error, ...kept.warning, ...kept.info];
      if (leftOut === 0) return all;
      const message = `${leftOut} further issues are not listed.`;
      return [...all, { level: 'warning', file: null, line: null, message, hint: 'Mend those listed first.' }];
    },
  };
}

function shorten({ level, file, line, message, hint }: Issue): Issue {
  return {
    level,
    file: file === null ? null : ownText(file.slice(0, MAX_FILE_LENGTH)),
    line,
    message: ownText(message.slice(0, MAX_TEXT_LENGTH)),
    hint: ownText(hint.slice(0, MAX_TEXT_LENGTH)),
  };
}
