import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_SCRIPT, type Edit, once, type Planted, type Project, replaceIn, run } from './project.ts';

const PACKAGE = { name: 'inflection', version: '0.5.1' };
const PYTEST = 'pytest==9.2.0';

const BODIES: Readonly<Record<Planted, string>> = {
  random10: 'def test_planted_random10():\n    assert random.random() >= 0.1\n',
  random20: 'def test_planted_random20():\n    assert random.random() >= 0.2\n',
  clock: 'def test_planted_clock():\n    assert time.localtime().tm_sec >= 5\n',
  order: `def test_leaves():
    pass

def test_tidies():
    pass

def test_tidies_too():
    pass

def test_tidies_as_well():
    pass

def test_planted_order(before):
    assert before != "test_leaves"
`,
};

const HEAD = `import random
import time

import pytest

last = ""


@pytest.fixture(autouse=True)
def before(request):
    global last
    before, last = last, request.node.name
    return before


`;

/** The planted tests run in another order each time. */
const SHUFFLE = `import random


def pytest_collection_modifyitems(items):
    random.shuffle(items)
`;

export async function preparePytest(cache: string): Promise<Project> {
  const { name, version } = PACKAGE;
  const pytest = await once(join(cache, 'pytest'), async (unfinished) => {
    await run(unfinished, ['python3', '-m', 'pip', 'install', '--quiet', '--target', unfinished, PYTEST]);
  });
  const folder = await once(join(cache, `pytest-${name}-${version}`), async (unfinished) => {
    const source = [`--no-binary=${name}`, '--no-deps', `${name}==${version}`];
    await run(unfinished, ['python3', '-m', 'pip', 'download', '--quiet', ...source]);
    const [archive = ''] = await readdir(unfinished);
    await run(unfinished, ['tar', 'xzf', archive, '--strip-components=1']);
    await rm(join(unfinished, archive));
  });
  const module = `${name}/__init__.py`;
  const test = 'python3 -m pytest -q -p no:cacheprovider --junitxml=report.xml';
  const planted = (names: readonly Planted[]): Edit => ({
    'conftest.py': SHUFFLE,
    'test_planted.py': `${HEAD}${names.map((each) => BODIES[each]).join('\n\n')}`,
    ...BY_SCRIPT.script(test),
  });
  return {
    name: 'pytest',
    folder,
    check: `export PYTHONPATH=${pytest} PYTHONDONTWRITEBYTECODE=1 && sh test.sh`,
    environment: { SLUICE_RUNNER_TOOLS: pytest },
    planted,
    flaky: (number) => ({
      [`test_flaky_${number}.py`]: `import random\n\n\ndef test_planted_flaky${number}():\n    assert random.random() >= 0.4\n`,
    }),
    code: (number) => ({
      [`${name}/extra_${number}.py`]: `def extra():\n    return ${number}\n`,
      [`test_extra_${number}.py`]: `from ${name}.extra_${number} import extra\n\n\ndef test_extra_${number}():\n    assert extra() == ${number}\n`,
    }),
    breaks: [
      await replaceIn(folder, module, 'return "th"', 'return "nd"'),
      await replaceIn(folder, module, "word.replace('_', '-')", "word.replace('_', ' ')"),
    ],
    build: { [module]: 'def broken(:\n' },
    ...BY_SCRIPT,
  };
}
