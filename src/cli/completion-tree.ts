import type { Command, Option } from 'commander';

/** What the scripts of all shells are made from: each command by its path, such as `sluice queue create`. */
export interface TreeNode {
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly TreeOption[];
  /** Words that its first argument may be. */
  readonly words: readonly string[];
}

export interface TreeOption {
  /** `--mode`, and `-p` where there is one. */
  readonly flags: readonly string[];
  readonly text: string;
  readonly value: 'none' | 'file' | 'other';
  readonly choices: readonly string[];
}

export function describeTree(program: Command): TreeNode[] {
  return describeCommand(program, program.name(), []);
}

/** An option of a command is known below it too. */
function describeCommand(command: Command, path: string, inherited: readonly TreeOption[]): TreeNode[] {
  const options = [...command.options.flatMap(describeOption), ...inherited];
  const help = { flags: ['--help', '-h'], text: 'Explain the command', value: 'none' as const, choices: [] };
  const node: TreeNode = {
    path,
    commands: command.commands.map((child) => ({
      name: child.name(),
      text: firstSentence(child.summary() || child.description()),
    })),
    options: [...options, help],
    words: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = command.commands.flatMap((child) => describeCommand(child, `${path} ${child.name()}`, options));
  return [node, ...below];
}

function describeOption(option: Option): TreeOption[] {
  // Only that of the bare token is hidden without being the other half of a switch.
  if (option.hidden && !option.negate) return [];
  const flags = [option.long, option.short].filter((flag) => flag !== undefined);
  const takesValue = option.required || option.optional;
  const value = takesValue ? (/<(?:file|path)\b/.test(option.flags) ? 'file' : 'other') : 'none';
  return [{ flags, text: firstSentence(option.description), value, choices: option.argChoices ?? [] }];
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/[.:]$/, '') ?? text;
}
