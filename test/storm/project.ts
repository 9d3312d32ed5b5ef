import { join } from 'node:path';

/** Lines of the file that many pull requests change, each a line of its own. */
const SHARED_LINES = 2_000;
/** What all files of `budget/` may add up to. */
const BUDGET = 10;

export type Files = Readonly<Record<string, string>>;

/** What is on every target before the storm. */
export function firstFiles(clashes: number): Files {
  const files: Record<string, string> = { 'README.md': 'A project in a storm.\n', 'shared.txt': sharedText(undefined) };
  for (let index = 0; index < clashes; index += 1) files[clashFile(index)] = 'nobody was here\n';
  return files;
}

export function sharedText(changedLine: number | undefined): string {
  const lines = Array.from({ length: SHARED_LINES }, (_, index) =>
    index === changedLine ? `changed ${index}` : `${index}`,
  );
  return `${lines.join('\n')}\n`;
}

export function clashFile(index: number): string {
  return `clash-${index}.txt`;
}

/** What must hold for the files, whoever runs it: both halves of a pair, or too much in the budget, break it. */
export const RULES = `
[ ! -e bad ] || exit 1
for left in left/*; do [ ! -e "$left" ] || [ ! -e "right/\${left#left/}" ] || exit 1; done
total=0
for part in budget/*; do [ ! -e "$part" ] || total=$((total + $(cat "$part"))); done
[ "$total" -le ${BUDGET} ] || exit 1
[ "$(wc -l < shared.txt)" -eq ${SHARED_LINES} ] || exit 1
`;

/** Every file that shows that a check is running, seen from the folder of the runner. */
export const RUNNING_FILE = 'running';

/** Some leave a daemon behind, in a session of its own and with nothing to read or write. */
const DAEMON = `
case "$SLUICE_COMMIT" in *[02468ace]) command -v setsid > /dev/null && setsid sleep 600 < /dev/null > /dev/null 2>&1 & ;; esac`;

export interface ProjectCheck {
  readonly name: string;
  readonly command: string;
}

/**
 * Each takes its time by the commit, so that it is the same when it is run again, and writes down which trees passed: a
 * record that Sluice has no hand in.
 */
export function checksOf(folder: string): readonly ProjectCheck[] {
  const record = `git rev-parse 'HEAD^{tree}' >> '${folder}'/passed-`;
  const begin = `: > "$TMPDIR/${RUNNING_FILE}"\nhex=$(printf %.2s "$SLUICE_COMMIT")`;
  return [
    {
      name: 'rules',
      command: `${begin}${DAEMON}\nsleep "$(printf 0.%03d $((50 + 0x$hex)))"\n${RULES}${record}rules`,
    },
    { name: 'readme', command: `${begin}\nsleep 0.05\ngrep -q storm README.md || exit 1\n${record}readme` },
  ];
}

export function recordOf(folder: string, check: string): string {
  return join(folder, `passed-${check}`);
}
