import { Argument, type Command } from 'commander';
import { formatBash } from './completion-bash.ts';
import { formatFish } from './completion-fish.ts';
import { describeTree, type TreeNode } from './completion-tree.ts';
import { formatZsh } from './completion-zsh.ts';
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
