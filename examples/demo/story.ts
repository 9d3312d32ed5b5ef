import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Paths and contents. */
export type Files = Readonly<Record<string, string>>;

/** The required outcome of a pull request; any other fails the demo. */
export type Ending =
  | { readonly kind: 'lands' }
  /** `reason` is the code of the API. */
  | { readonly kind: 'removed'; readonly reason: string }
  /** A flaky check fails, and passes when its run is repeated; then it lands. */
  | { readonly kind: 'lands_when_repeated'; readonly check: string };

export interface DemoPullRequest {
  readonly number: number;
  readonly author: string;
  readonly title: string;
  /** Its role in the demo, shown beside its title. */
  readonly note: string;
  readonly files: Files;
  readonly ending: Ending;
  /** Submitted when the others are already under test. */
  readonly comesLater?: true;
  readonly isUrgent?: true;
}

export const CHECKS = { unit: 'unit', smoke: 'smoke' } as const;

/** The project of the pull requests. Two of its tests wait a moment, so that viewers see them run. */
export const SHOP = readFiles('shop');

const LANDS: Ending = { kind: 'lands' };
const CONFLICTS: Ending = { kind: 'removed', reason: 'START_TEST_RUN_MERGE_CONFLICT' };
const FAILS: Ending = { kind: 'removed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' };
const IS_FLAKY: Ending = { kind: 'lands_when_repeated', check: CHECKS.smoke };

/**
 * In the order of submission. The queue builds its line in this order on any machine, so each pull request ends the
 * same way every time: #2 meets #1, #5 builds on #4, #7 on #6. The last one overlaps with no other and comes after the
 * urgent one, so that nothing interrupts the run in which its flaky test fails.
 */
export const STORY: readonly DemoPullRequest[] = [
  tell(1, 'Ada', 'Parcels up to 2 kg are light', { note: 'good', ending: LANDS }),
  tell(2, 'Grace', 'Light parcels cost 3.90', { note: 'changes the same line as #1', ending: CONFLICTS }),
  tell(3, 'Radia', 'A tenth off from ten of one item on', { note: 'good', ending: LANDS }),
  tell(4, 'Edsger', 'A simpler subtotal', { note: 'breaks a unit test', ending: FAILS }),
  tell(5, 'Barbara', 'Count the items of a cart', { note: 'good, and stands behind #4', ending: LANDS }),
  tell(6, 'Ken', 'Rename taxFor to salesTax', { note: 'good', ending: LANDS }),
  tell(7, 'Donald', 'Give tourists their tax back', { note: 'good alone, breaks together with #6', ending: FAILS }),
  tell(8, 'Margaret', 'Line up the prices of a receipt', { note: 'good', ending: LANDS }),
  tell(9, 'Linus', 'The tax of Finland is 25.5 % since September', {
    note: 'urgent',
    ending: LANDS,
    comesLater: true,
    isUrgent: true,
  }),
  tell(10, 'Sophie', "Convert at today's exchange rate", {
    note: 'its smoke test is flaky',
    ending: IS_FLAKY,
    comesLater: true,
  }),
];

function tell(
  number: number,
  author: string,
  title: string,
  part: Omit<DemoPullRequest, 'number' | 'author' | 'title' | 'files'>,
): DemoPullRequest {
  return { number, author, title, files: readFiles(`pull-requests/${number}`), ...part };
}

/** All files of a folder beside this file. */
export function readFiles(folder: string): Files {
  const root = path.join(import.meta.dirname, folder);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))).sort();
  return Object.fromEntries(paths.map((name) => [name, readFileSync(path.join(root, name), 'utf8')]));
}

/** The parts of the shop that it touches: pull requests on different parts are tested and landed in parallel. */
export function targetsOf({ files }: DemoPullRequest): string[] {
  return [...new Set(Object.keys(files).map((name) => name.split('/', 1)[0] as string))];
}
