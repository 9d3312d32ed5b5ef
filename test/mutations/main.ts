import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, say } from '../helpers/command.ts';
import { Copy } from './copy.ts';
import { SUITES, type SuiteName } from './suites.ts';
import { MUTATIONS, type Mutation } from './table.ts';

const HELP = `npm run mutate -- [options]      puts faults into a copy of the project, and runs the tests that should notice

Each fault of test/mutations/table.ts is tried by itself. At least two independent suites must notice it. A fault whose text
is not found any more counts as missed: mend the table. Before that, each suite must pass as the project is.

  --only TEXT      only faults with this in their name
  --suite NAME     only this suite, where a fault names it
  --all            run the suites that are left when two have noticed, too
  --list           say what there is, and run nothing
  --help           this
`;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A fault that only one suite detects is a single deleted test away from landing. */
const ENOUGH = 2;

process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse, run });

function parse(args: readonly string[]) {
  const options = {
    only: { type: 'string', default: '' },
    suite: { type: 'string' },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.suite !== undefined && !Object.hasOwn(SUITES, values.suite)) {
    throw new TypeError(`--suite must be one of ${Object.keys(SUITES).join(', ')}`);
  }
  const mutations = MUTATIONS.filter(({ name }) => name.includes(values.only));
  if (mutations.length === 0) throw new TypeError(`no fault has "${values.only}" in its name`);
  const suite = values.suite as SuiteName | undefined;
  return { mutations, suite, isAll: values.all, isList: values.list, isHelp: values.help };
}

async function run({ mutations, suite, isAll, isList }: ReturnType<typeof parse>): Promise<number> {
  if (isList) {
    for (const { name, suites } of mutations) say(`${name} (${suites.join(', ')})\n`);
    return 0;
  }
  const copy = new Copy(ROOT);
  let missed = 0;
  try {
    const broken = await findBroken(copy, mutations, suite);
    if (broken !== undefined) {
      say(`${broken} fails without any fault, so it cannot notice one.\n`);
      return 1;
    }
    for (const mutation of mutations) if (!(await tryOut(copy, mutation, { suite, isAll }))) missed += 1;
  } finally {
    copy.remove();
  }
  say(`\n${mutations.length} faults, ${missed} not noticed by ${ENOUGH} suites\n`);
  return missed === 0 ? 0 : 1;
}

/** Finds a suite that fails without any fault. */
async function findBroken(
  copy: Copy,
  mutations: readonly Mutation[],
  only: SuiteName | undefined,
): Promise<SuiteName | undefined> {
  const named = new Set(mutations.flatMap(({ suites }) => suites));
  for (const suite of named) {
    if ((only === undefined || suite === only) && (await notices(copy, suite))) return suite;
  }
  return undefined;
}

interface Choice {
  readonly suite: SuiteName | undefined;
  readonly isAll: boolean;
}

/** Returns whether enough suites detected the fault. */
async function tryOut(copy: Copy, { name, edits, suites }: Mutation, { suite: only, isAll }: Choice): Promise<boolean> {
  const problem = copy.apply(edits);
  try {
    if (problem !== undefined) {
      say(`NOT FOUND  ${name}: ${problem}\n`);
      return false;
    }
    const asked = suites.filter((suite) => only === undefined || suite === only);
    const wanted = Math.min(ENOUGH, asked.length);
    const found: string[] = [];
    let count = 0;
    for (const suite of asked) {
      if (count >= wanted && !isAll) break;
      const isNoticed = await notices(copy, suite);
      count += Number(isNoticed);
      found.push(`${suite} ${isNoticed ? 'noticed' : 'did not'}`);
    }
    say(`${count >= wanted ? 'ok        ' : 'MISSED    '} ${name}: ${found.join(', ')}\n`);
    return count >= wanted;
  } finally {
    copy.undo(edits);
  }
}

async function notices({ folder }: Copy, suite: SuiteName): Promise<boolean> {
  for (const words of SUITES[suite]) if ((await runNode(folder, words)) !== 0) return true;
  return false;
}

function runNode(cwd: string, words: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd, stdio: 'ignore' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
