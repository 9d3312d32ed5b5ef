import type { TreeNode } from './completion-tree.ts';

export function formatZsh(tree: readonly TreeNode[]): string {
  const paths = tree.slice(1).map(({ path }) => quote(path));
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
${tree.flatMap(formatValues).join('\n')}
  esac
  case "$at" in
${tree.map(formatNode).join('\n')}
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

function formatNode({ path, commands, options, words }: TreeNode): string {
  const names = [...commands.map(({ name, text }) => describe(name, text)), ...words.map(quote)];
  const flags = options.flatMap((option) => option.flags.map((flag) => describe(flag, option.text)));
  return `    ${quote(path)}) commands=(${names.join(' ')}) options=(${flags.join(' ')}) ;;`;
}

function formatValues({ path, options }: TreeNode): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map(({ flags, choices, value }) => {
      const action = choices.length > 0 ? `compadd -- ${choices.join(' ')}` : value === 'file' ? '_files' : ':';
      return `    ${flags.map((flag) => quote(`${path} ${flag}`)).join('|')}) ${action}; return ;;`;
    });
}

function describe(word: string, text: string): string {
  return quote(text === '' ? word : `${word}:${text}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
