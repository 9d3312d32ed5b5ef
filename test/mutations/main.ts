import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, say } from '../helpers/command.ts';
import { Copy, findMisfit } from './copy.ts';
import { commandsOf, isSuite, SUITE_NAMES, type SuiteName } from './suites.ts';
import { MUTATIONS, type Mutation } from './table.ts';

const HELP = `npm run mutate -- [options]      puts faults into a copy of the project, and runs the tests that should notice

Each fault of test/mutations/faults.diff is tried by itself. Faults that would land red code or remove an innocent entry
name the suites that can tell, of which two must notice. The others name the stories of test/scenario. An equivalent must not be
noticed, and says why no event can tell it from the rule. A fault whose text is not found any more counts as missed: mend
the table. Before that, each suite must pass as the project is.

  --quick          the stories alone: seconds for each fault, and some minutes for all
  --only TEXT      only faults with this in their name, such as V34 or waiver
  --suite NAME     only this suite, and only faults that name it
  --all            run the suites that are left when two have noticed, too
  --list           say what there is and which faults no longer fit, and run nothing
  --help           this
`;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A fault that only one suite detects is a single deleted test away from landing. */
const ENOUGH = 2;
/** A fault may make a test run without end. That detects it, too. */
const LONGEST_MS = 10 * 60_000;

process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse, run });

function parse(args: readonly string[]) {
  const options = {
    only: { type: 'string', default: '' },
    suite: { type: 'string' },
    quick: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const suite = values.quick ? 'scenario' : values.suite;
  if (suite !== undefined && !isSuite(suite)) throw new TypeError(`--suite must be one of ${SUITE_NAMES.join(', ')}`);
  const mutations = MUTATIONS.flatMap((mutation) => {
    const suites = mutation.suites.filter((name) => suite === undefined || name === suite);
    return suites.length > 0 && mutation.name.includes(values.only) ? [{ ...mutation, suites }] : [];
  });
  if (mutations.length === 0) throw new TypeError(`no fault has "${values.only}" in its name`);
  return { mutations, isAll: values.all, isList: values.list, isHelp: values.help };
}

async function run({ mutations, isAll, isList }: ReturnType<typeof parse>): Promise<number> {
  if (isList) return list(mutations);
  const copy = new Copy(ROOT);
  const startedAt = performance.now();
  let missed = 0;
  try {
    const broken = await findBroken(copy, mutations);
    if (broken !== undefined) {
      say(`${broken} fails without any fault, so it cannot notice one.\n`);
      return 1;
    }
    for (const mutation of mutations) if (!(await tryOut(copy, mutation, isAll))) missed += 1;
  } finally {
    copy.remove();
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  say(`\n${mutations.length} faults in ${seconds} s, ${missed} not as the table says\n`);
  return missed === 0 ? 0 : 1;
}

function list(mutations: readonly Mutation[]): number {
  const misfits = mutations.map(({ edits }) => findMisfit(ROOT, edits));
  for (const [index, { name, suites, equivalent }] of mutations.entries()) {
    const misfit = misfits[index];
    say(misfit === undefined ? `${name} (${equivalent ?? suites.join(', ')})\n` : `NOT FOUND  ${name}: ${misfit}\n`);
  }
  return misfits.every((misfit) => misfit === undefined) ? 0 : 1;
}

/** Finds a suite that fails without any fault. */
async function findBroken(copy: Copy, mutations: readonly Mutation[]): Promise<SuiteName | undefined> {
  for (const suite of new Set(mutations.flatMap(({ suites }) => suites))) {
    if (await notices(copy, suite)) return suite;
  }
  return undefined;
}

/** Returns whether enough suites detected the fault, or none detected an equivalent. */
async function tryOut(copy: Copy, mutation: Mutation, isAll: boolean): Promise<boolean> {
  const { name, edits, suites, equivalent } = mutation;
  const misfit = findMisfit(copy.folder, edits);
  if (misfit !== undefined) {
    say(`NOT FOUND  ${name}: ${misfit}\n`);
    return false;
  }
  try {
    copy.apply(edits);
    const wanted = Math.min(ENOUGH, suites.length);
    const found: string[] = [];
    let count = 0;
    for (const suite of suites) {
      if (count >= wanted && !isAll) break;
      const isNoticed = await notices(copy, suite, name.split(':')[0]);
      count += Number(isNoticed);
      found.push(`${suite} ${isNoticed ? 'noticed' : 'did not'}`);
    }
    const isRight = equivalent === undefined ? count >= wanted : count === 0;
    const verdict = equivalent === undefined ? 'MISSED    ' : 'NOTICED   ';
    say(`${isRight ? 'ok        ' : verdict} ${name}: ${found.join(', ')}\n`);
    return isRight;
  } finally {
    copy.undo(edits);
  }
}

async function notices({ folder }: Copy, suite: SuiteName, rule?: string): Promise<boolean> {
  for (const words of commandsOf(suite, rule)) if (await fails(folder, words)) return true;
  return false;
}

/** Stops at the first failed test, as far as the tests run in this one process. */
function fails(cwd: string, words: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    });
    createInterface(child.stdout).on('line', (line) => {
      if (/^\s*not ok /.test(line)) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(code !== 0));
  });
}
