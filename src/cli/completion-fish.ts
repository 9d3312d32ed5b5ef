import type { TreeNode, TreeOption } from './completion-tree.ts';

export function formatFish(tree: readonly TreeNode[]): string {
  const paths = tree.slice(1).map(({ path }) => quote(path));
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
${tree.flatMap(formatNode).join('\n')}
`;
}

function formatNode({ path, commands, options, words }: TreeNode): string[] {
  const start = `complete -c sluice -n ${quote(`__sluice_at "${path}"`)}`;
  return [
    ...commands.map(({ name, text }) => `${start} -a ${name} -d ${quote(text)}`),
    ...words.map((word) => `${start} -a ${word}`),
    ...options.map((option) => `${start} ${formatOption(option)}`),
  ];
}

function formatOption({ flags, text, value, choices }: TreeOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const takes = { none: '', file: ' -rF', other: ' -x' }[value];
  const values = choices.length > 0 ? ` -a ${quote(choices.join(' '))}` : '';
  return `${names.join(' ')}${takes}${values}${text === '' ? '' : ` -d ${quote(text)}`}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `\\'`)}'`;
}
