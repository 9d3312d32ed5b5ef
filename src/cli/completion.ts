import { Argument, type Command, type Option } from 'commander';
import { addExamples } from './core/arguments.ts';
import { write } from './core/terminal.ts';

const FORMATS: Readonly<Record<string, (tree: readonly TreeNode[]) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

export function defineCompletion(
  command: Command,
  tree: { readonly program: Command; loadEverything(): Promise<void> },
): void {
  command
    .description('Print a script that completes commands and options. It is made from the commands themselves.')
    .addArgument(new Argument('<shell>', 'The shell.').choices(Object.keys(FORMATS)))
    .action(async (shell: string) => {
      await tree.loadEverything();
      write(FORMATS[shell]?.(describeTree(tree.program)) ?? '');
    });
  addExamples(command, [
    'source <(sluice completion bash)      # in ~/.bashrc',
    'source <(sluice completion zsh)       # in ~/.zshrc, after compinit',
    'sluice completion fish | source       # in ~/.config/fish/config.fish',
  ]);
}

/** The source of all shell scripts: each command by its path, such as `sluice queue create`. */
interface TreeNode {
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly TreeOption[];
  /** Allowed values of its first argument. */
  readonly words: readonly string[];
}

interface TreeOption {
  /** `--mode`, and `-p` if there is one. */
  readonly flags: readonly string[];
  readonly text: string;
  readonly value: 'none' | 'file' | 'other';
  readonly choices: readonly string[];
}

function describeTree(program: Command): TreeNode[] {
  return describeCommand(program, program.name(), []);
}

/** Subcommands inherit the options of their parents. */
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
  // Hidden options that are not the `--no-` half of a switch are for the parser alone.
  if (option.hidden && !option.negate) return [];
  const flags = [option.long, option.short].filter((flag) => flag !== undefined);
  const takesValue = option.required || option.optional;
  const value = takesValue ? (/<(?:file|path)\b/.test(option.flags) ? 'file' : 'other') : 'none';
  return [{ flags, text: firstSentence(option.description), value, choices: option.argChoices ?? [] }];
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/[.:]$/, '') ?? text;
}

function formatBash(tree: readonly TreeNode[]): string {
  const paths = tree.slice(1).map(({ path }) => quoteWord(path));
  return `# Completion of sluice for bash: source <(sluice completion bash)
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" at=sluice words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths.join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  # bash splits --mode=single into three words.
  [[ "$previous" == '=' ]] && previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  [[ "$current" == '=' ]] && current=''
  COMPREPLY=()
  case "$at $previous" in
${tree.flatMap(bashValues).join('\n')}
    *)
      case "$at" in
${tree.map((node) => `        ${quoteWord(node.path)}) words=${quoteWord(bashWords(node).join(' '))} ;;`).join('\n')}
      esac
      ;;
  esac
  # Without an answer, bash completes the names of files (complete -o default).
  [[ -n "$words" ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
  return 0
}
complete -o default -F _sluice sluice
`;
}

function bashWords({ commands, options, words }: TreeNode): string[] {
  return [...commands.map(({ name }) => name), ...words, ...options.flatMap(({ flags }) => flags)];
}

/** After an option with a value the script offers its choices, or nothing. */
function bashValues({ path, options }: TreeNode): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map(
      ({ flags, choices }) =>
        `    ${flags.map((flag) => quoteWord(`${path} ${flag}`)).join(' | ')}) words=${quoteWord(choices.join(' '))} ;;`,
    );
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function formatZsh(tree: readonly TreeNode[]): string {
  const paths = tree.slice(1).map(({ path }) => quoteWord(path));
  return `#compdef sluice
# Completion of sluice for zsh: source <(sluice completion zsh), after compinit.
_sluice() {
  local at=sluice word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${paths.join('|')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${tree.flatMap(zshValues).join('\n')}
  esac
  case "$at" in
${tree.map(zshNode).join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then
    _describe -o option options
  elif ((\${#commands})); then
    _describe command commands
  else
    _files
  fi
}
compdef _sluice sluice
`;
}

function zshNode({ path, commands, options, words }: TreeNode): string {
  const names = [...commands.map(({ name, text }) => zshWord(name, text)), ...words.map(quoteWord)];
  const flags = options.flatMap((option) => option.flags.map((flag) => zshWord(flag, option.text)));
  return `    ${quoteWord(path)}) commands=(${names.join(' ')}) options=(${flags.join(' ')}) ;;`;
}

function zshValues({ path, options }: TreeNode): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map(({ flags, choices, value }) => {
      const action = choices.length > 0 ? `compadd -- ${choices.join(' ')}` : value === 'file' ? '_files' : ':';
      return `    ${flags.map((flag) => quoteWord(`${path} ${flag}`)).join('|')}) ${action}; return ;;`;
    });
}

function zshWord(word: string, text: string): string {
  return quoteWord(text === '' ? word : `${word}:${text}`);
}

function formatFish(tree: readonly TreeNode[]): string {
  const paths = tree.slice(1).map(({ path }) => quoteForFish(path));
  return `# Completion of sluice for fish: sluice completion fish | source
function __sluice_at
    set -l at sluice
    for word in (commandline -opc)[2..]
        if contains -- "$at $word" ${paths.join(' ')}
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c sluice -f
${tree.flatMap(fishNode).join('\n')}
`;
}

function fishNode({ path, commands, options, words }: TreeNode): string[] {
  const start = `complete -c sluice -n ${quoteForFish(`__sluice_at "${path}"`)}`;
  return [
    ...commands.map(({ name, text }) => `${start} -a ${name} -d ${quoteForFish(text)}`),
    ...words.map((word) => `${start} -a ${word}`),
    ...options.map((option) => `${start} ${fishOption(option)}`),
  ];
}

function fishOption({ flags, text, value, choices }: TreeOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const takes = { none: '', file: ' -rF', other: ' -x' }[value];
  const values = choices.length > 0 ? ` -a ${quoteForFish(choices.join(' '))}` : '';
  return `${names.join(' ')}${takes}${values}${text === '' ? '' : ` -d ${quoteForFish(text)}`}`;
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `\\'`)}'`;
}
