import { type Priority, parsePriority } from '../../../engine/model/priority.ts';
import { plainLines } from './plain-lines.ts';

export type Command =
  | {
      readonly kind: 'merge';
      readonly priority: Priority | undefined;
      readonly noBatch: boolean | undefined;
      readonly repair?: true;
      readonly submitStack?: true;
    }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'help' }
  /** Addressed to us, but not understood. `part` is the unknown part, as written. */
  | { readonly kind: 'unclear'; readonly problem: CommandProblem; readonly part: string };

/** A command, and whether it began with `/sluice`. */
export interface Spoken {
  readonly command: Command;
  readonly isOurName: boolean;
}

export type CommandProblem =
  | 'unknown_command'
  | 'unknown_flag'
  | 'bad_priority'
  | 'no_priority'
  | 'given_twice'
  | 'direct_not_supported';

/** A longer line is no command. */
const MAX_LINE = 1_000;

/** Unknown `/trunk` commands are ignored: they may be meant for another product of that name. */
// SPEC G50
export function parseCommand(body: string): Spoken | undefined {
  // A quick test first: nearly no comment has a command.
  if (!/^\/(?:sluice|trunk)/im.test(body)) return undefined;
  for (const line of plainLines(body)) {
    const [, name, rest] = /^\/(sluice|trunk)(?=\s|$)(.*)$/is.exec(line) ?? [];
    if (name === undefined || rest === undefined) continue;
    const isOurName = name.toLowerCase() === 'sluice';
    const command = parseLine(isOurName, rest);
    return command && { command, isOurName };
  }
  return undefined;
}

function parseLine(isOurs: boolean, rest: string): Command | undefined {
  if (rest.length > MAX_LINE) return isOurs ? unclear('unknown_command', rest) : undefined;
  const [verb = '', ...words] = rest.trim().split(/\s+/);
  switch (verb.toLowerCase()) {
    case 'merge':
      return parseMerge(words);
    case 'cancel':
    case 'restart':
    case 'help': {
      const [word] = words;
      const kind = verb.toLowerCase() as 'cancel' | 'restart' | 'help';
      return word === undefined ? { kind } : unclear('unknown_flag', word);
    }
    default:
      return isOurs ? unclear('unknown_command', verb) : undefined;
  }
}

// SPEC G135
function parseMerge(words: readonly string[]): Command {
  let priority: Priority | undefined;
  let noBatch: true | undefined;
  let isRepair = false;
  let isStack = false;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, flag = '', joined] = /^([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const name = flag.toLowerCase();
    if (name === '-p' || name === '--priority') {
      const level = joined ?? rest.shift();
      if (level === undefined || level === '') return unclear('no_priority', flag);
      const given = parsePriority(level);
      if (given === undefined) return unclear('bad_priority', level);
      if (priority !== undefined) return unclear('given_twice', flag);
      priority = given;
    } else if (name === '--no-batch' && joined === undefined) noBatch = true;
    else if (name === '--repair' && joined === undefined) isRepair = true;
    else if (name === '--stack' && joined === undefined) isStack = true;
    else if (name === '--direct' || name === '--force') return unclear('direct_not_supported', flag);
    else return unclear('unknown_flag', word);
  }
  return {
    kind: 'merge',
    priority,
    noBatch,
    ...(isRepair && { repair: true as const }),
    ...(isStack && { submitStack: true as const }),
  };
}

function unclear(problem: CommandProblem, part: string): Command {
  return { kind: 'unclear', problem, part: part.slice(0, 100) };
}
