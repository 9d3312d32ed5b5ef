import { join } from 'node:path';

/** Lines of the file that many pull requests change, one line each. */
const SHARED_LINES = 2_000;
/** The maximum sum of all files in `budget/`. */
const BUDGET = 10;

export type Files = Readonly<Record<string, string>>;

/** The files on every target branch before the storm. */
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

/** The rules of the project. Both halves of a pair, or too much in the budget, break them. */
export const RULES = `
[ ! -e bad ] || exit 1
for left in left/*; do [ ! -e "$left" ] || [ ! -e "right/\${left#left/}" ] || exit 1; done
total=0
for part in budget/*; do [ ! -e "$part" ] || total=$((total + $(cat "$part"))); done
[ "$total" -le ${BUDGET} ] || exit 1
[ "$(wc -l < shared.txt)" -eq ${SHARED_LINES} ] || exit 1
`;

/** Exists in the runner's folder while a check runs. */
export const RUNNING_FILE = 'running';

/** Some checks leave a daemon in its own session, without input and output. */
const DAEMON = `
case "$SLUICE_COMMIT" in *[02468ace]) command -v setsid > /dev/null && setsid sleep 600 < /dev/null > /dev/null 2>&1 & ;; esac`;

export interface ProjectCheck {
  readonly name: string;
  readonly command: string;
}

/**
 * The duration of a check depends on the commit, so it is the same on a rerun. Each check records the trees that
 * passed, independently of Sluice.
 */
export function checksOf(folder: string): readonly ProjectCheck[] {
  const begin = `: > "$TMPDIR/${RUNNING_FILE}"\nhex=$(printf %.2s "$SLUICE_COMMIT")`;
  const before: Readonly<Record<string, string>> = {
    rules: `${begin}${DAEMON}\nsleep "$(printf 0.%03d $((50 + 0x$hex)))"\n`,
    readme: `${begin}\nsleep 0.05\n`,
  };
  return rulesOf(folder).map(({ name, command }) => ({ name, command: `${before[name]}${command}` }));
}

/** The same for a CI besides Sluice, which takes no time. */
export function rulesOf(folder: string): readonly ProjectCheck[] {
  const record = `git rev-parse 'HEAD^{tree}' >> '${folder}'/passed-`;
  return [
    { name: 'rules', command: `${RULES}${record}rules` },
    { name: 'readme', command: `grep -q storm README.md || exit 1\n${record}readme` },
  ];
}

export function recordOf(folder: string, check: string): string {
  return join(folder, `passed-${check}`);
}
