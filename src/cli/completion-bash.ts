import type { TreeNode } from './completion-tree.ts';

export function formatBash(tree: readonly TreeNode[]): string {
  const paths = tree.slice(1).map(({ path }) => quote(path));
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
${tree.flatMap(formatValues).join('\n')}
    *)
      case "$at" in
${tree.map((node) => `        ${quote(node.path)}) words=${quote(wordsOf(node).join(' '))} ;;`).join('\n')}
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

function wordsOf({ commands, options, words }: TreeNode): string[] {
  return [...commands.map(({ name }) => name), ...words, ...options.flatMap(({ flags }) => flags)];
}

/** After an option with a value come its choices, or nothing that this script knows. */
function formatValues({ path, options }: TreeNode): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map(
      ({ flags, choices }) =>
        `    ${flags.map((flag) => quote(`${path} ${flag}`)).join(' | ')}) words=${quote(choices.join(' '))} ;;`,
    );
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
