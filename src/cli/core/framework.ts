import { InvalidArgumentError } from 'commander';
import { FRAMEWORKS, type Framework } from '../../checks/selects/select-tests.ts';

/** As an option or a word takes one. */
export const FRAMEWORK = { choices: FRAMEWORKS, parse: parseFramework };

function parseFramework(text: string): Framework {
  const found = FRAMEWORKS.find((name) => name === text);
  if (found === undefined) throw new InvalidArgumentError(`Choose one of ${FRAMEWORKS.join(', ')}.`);
  return found;
}
