/** 200 cases in 20 modules. Each case asserts a figure of the module of its name. */
const MODULES = 20;
const CASES_OF_MODULE = 10;
export const CASES = MODULES * CASES_OF_MODULE;

/** These changes break one module each: one case, two, and a parametrised one. */
export const BROKEN: readonly number[] = [3, 8, 13];

const CONFTEST = `import os


def pytest_runtest_call(item):
    line = "\\t".join([os.environ["SLUICE_TEST_RUN_ID"], os.environ["SLUICE_TEST_BRANCH"], item.nodeid])
    with open(os.environ["COUNTER"], "a") as counter:
        counter.write(line + "\\n")
`;

/** A probe that took most of the time of a run would be asked no more. */
const TESTS = (module: number) => `import time

import pytest
from shop.part_${module} import double, price


@pytest.mark.parametrize("amount", [${Array.from({ length: CASES_OF_MODULE - 3 }, (_, index) => index + 1).join(', ')}])
def test_price(amount):
    time.sleep(0.02)
    assert price(amount) == amount * ${module + 2}


class TestDouble:
    def test_one(self):
        time.sleep(0.02)
        assert double(1) == 2

    def test_two(self):
        time.sleep(0.02)
        assert double(2) == 4


def test_nothing():
    time.sleep(0.02)
    assert price(0) == 0
`;

const PART = (module: number, { factor = module + 2, double = 'amount * 2' } = {}) => `def price(amount):
    return amount * ${factor}


def double(amount):
    return ${double}
`;

export const SUITE: Readonly<Record<string, string>> = {
  'conftest.py': CONFTEST,
  'pytest.ini': '[pytest]\n',
  'shop/__init__.py': '',
  ...Object.fromEntries(
    Array.from({ length: MODULES }, (_, module) => [
      [`shop/part_${module}.py`, PART(module)],
      [`tests/test_part_${module}.py`, TESTS(module)],
    ]).flat(),
  ),
};

/** A change adds a file of its own. */
export function changeOf(number: number): Readonly<Record<string, string>> {
  const own = { [`notes/${number}.md`]: `Change ${number}\n` };
  if (number === BROKEN[0]) return { ...own, 'shop/part_3.py': PART(3, { double: 'amount * amount * 2' }) };
  if (number === BROKEN[1]) return { ...own, 'shop/part_8.py': PART(8, { double: 'amount * 3' }) };
  if (number === BROKEN[2]) return { ...own, 'shop/part_13.py': PART(13, { factor: 16 }) };
  return own;
}

export function checkOf(counter: string, selects: boolean) {
  const variables = `COUNTER='${counter}' PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=.`;
  const command = `${variables} python3 -m pytest -q -p no:cacheprovider --junitxml=report.xml "$@"`;
  return { name: 'unit', command, ...(selects && { selects: 'pytest' }) };
}
