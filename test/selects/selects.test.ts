// The way back from a report to the arguments that select its tests, with real test frameworks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NamedTest, selectedNothing, selectTests } from '../../src/checks/selects/select-tests.ts';
import { FRAMEWORKS_TRIED, type TriedFramework } from './frameworks.ts';
import { keyOf, openProject, type SeenTest, type TriedProject } from './run-framework.ts';

/** `npm run check:selects` installs and tries all of them. Any other text is the beginning of a name. */
const WANTED = process.env['SLUICE_SELECTS'];
const isWanted = ({ name, isInSuite }: TriedFramework) =>
  WANTED === undefined ? isInSuite === true : WANTED === 'all' || name.startsWith(WANTED);

describe('the tests of a report are selected', () => {
  for (const tried of FRAMEWORKS_TRIED.filter(isWanted)) {
    it(`by arguments of ${tried.name} [R102] [R103]`, { timeout: 900_000 }, async (t) => {
      const project = await openProject(tried);
      const first = await project.run([], { FAIL: 'yes' });
      if (first.seen === undefined && WANTED === undefined) return t.skip(first.output.slice(0, 200));
      const failing = (first.seen ?? []).filter(({ status }) => status === 'failure');
      assert.ok(failing.length > 5, first.output);
      const tests = [...new Map(failing.map((test) => [keyOf(test), test])).values()];
      const groups = inGroups(tests, WANTED === undefined ? 4 : 12);
      for (const group of [...groups, tests, tests.slice(0, 50)]) await assertSelected(tried, project, group);
      await assertNothing(tried, project, tests);
      assert.deepEqual(await project.strangers(), []);
    });
  }
});

function inGroups(tests: readonly SeenTest[], count: number): readonly (readonly SeenTest[])[] {
  return Array.from({ length: count }, (_, group) => tests.filter((_test, index) => index % count === group));
}

async function assertSelected(tried: TriedFramework, project: TriedProject, asked: readonly SeenTest[]): Promise<void> {
  const { by, args } = selectTests(tried.framework, asked);
  const { code, seen = [], output } = await project.run(args);
  const passed = new Set(seen.filter(({ status }) => status === 'success').map(keyOf));
  const absent = asked.filter((test) => !passed.has(keyOf(test)));
  assert.deepEqual(
    absent.map(({ name }) => name.slice(0, 100)).filter((name) => !tried.lost.includes(name)),
    [],
    `${by} ${args.join('\n')}\n${output.slice(0, 2_000)}`,
  );
  assert.equal(code, 0, output);
}

/** A test that another pull request adds, whose file and name are not there. */
async function assertNothing(tried: TriedFramework, project: TriedProject, tests: readonly SeenTest[]): Promise<void> {
  const gone: NamedTest = { ...(tests.at(-1) as SeenTest), name: 'gone_from_here' };
  const selection = selectTests(tried.framework, [gone]);
  const { code, output } = await project.run(selection.args);
  assert.ok(code === 0 || selectedNothing(selection, code), output);
}
