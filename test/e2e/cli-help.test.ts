import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { EXIT_CODES_TEXT } from '../../src/cli/core/exit.ts';
import { createProgram } from '../../src/cli/program.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { settingInputs } from '../../src/contract/settings.ts';
import { listPages, scriptsOf } from '../helpers/doc-pages.ts';
import { sluice } from './kept-sluice.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function print(...args: string[]): Promise<string> {
  const { code, out, err } = await sluice(args);
  assert.equal(code, 0, err);
  return out;
}

async function listCommands(): Promise<{ path: string; command: Command }[]> {
  const { program, loadEverything } = createProgram();
  await loadEverything();
  const list = (command: Command, path: string): { path: string; command: Command }[] => [
    { path, command },
    ...command.commands.flatMap((child) => list(child, `${path} ${child.name()}`)),
  ];
  return list(program, 'sluice');
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

describe('the help', () => {
  it('ends with examples for every command, and each of them is a command that exists', async () => {
    const commands = await listCommands();
    const paths = commands.map(({ path }) => path);
    for (const { path, command } of commands) {
      const [, examples] = helpOf(command).split('\nExamples:\n');
      assert.ok(examples, `${path} --help has no examples`);
      for (const [, words] of examples.matchAll(/(sluice(?: [a-z]+)+)/g)) {
        assert.ok(
          paths.some((known) => words?.startsWith(known)),
          `${path} --help shows "${words}"`,
        );
      }
    }
  });

  it('of the program lists the exit codes and says that a token is never an argument', async () => {
    const text = await print('--help');
    assert.ok(text.includes(EXIT_CODES_TEXT));
    assert.match(text, /never an argument/);
  });

  it('of serve lists every environment variable with its default', async () => {
    const text = await print('serve', '--help');
    for (const [name, variable] of Object.entries(VARIABLES)) {
      assert.ok(
        text.includes(name) && text.includes(variable.text) && text.includes(`Default: ${variable.default}`),
        name,
      );
    }
  });

  it('of serve shows no option that it ignores', async () => {
    assert.doesNotMatch(await print('serve', '--help'), /--url|--json|--token-file/);
    assert.match(await print('status', '--help'), /--url[\s\S]*--json/);
  });

  it('of queue create and update has an option for every setting', async () => {
    const commands = await listCommands();
    for (const path of ['sluice queue create', 'sluice queue update']) {
      const names = commands.find((one) => one.path === path)?.command.options.map((option) => option.attributeName());
      // `sluice queue freeze` adds and removes them one by one.
      const settings = Object.keys(settingInputs).filter((name) => name !== 'freezes');
      for (const setting of settings) assert.ok(names?.includes(setting), `${path} lacks ${setting}`);
    }
  });

  it('is the same by `help queue show` and `queue show --help`', async () => {
    assert.equal(await print('help', 'queue', 'show'), await print('queue', 'show', '--help'));
  });

  it('docs/cli.md names every command and option and the exit codes', async () => {
    const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    for (const { path, command } of await listCommands()) {
      if (command.commands.length === 0) assert.ok(page.includes(path), `docs/cli.md lacks "${path}"`);
      for (const option of command.options) {
        if (option.hidden || option.attributeName() in settingInputs) continue;
        assert.ok(page.includes(`${option.long}`), `docs/cli.md lacks ${option.long} of ${path}`);
      }
    }
    for (const code of [0, 1, 2, 3, 4]) assert.match(page, new RegExp(`^\\| ${code} \\|`, 'm'));
  });

  it('knows every command and option that the README and the docs show', async () => {
    const commands = (await listCommands()).toSorted((a, b) => b.path.length - a.path.length);
    const everywhere = commands.at(-1)?.command.options.map(({ long }) => long) ?? [];
    const shown = [...listPages(), 'deploy/action/action.yml'].flatMap(readCommands);
    assert.ok(shown.length > 150, `${shown.length} commands are shown`);
    for (const { page, line } of shown) {
      const found = commands.find(({ path }) => line === path || line.startsWith(`${path} `));
      assert.ok(found, `${page}: ${line}`);
      // A group without a command of its own does what its default command does.
      const children = found.command.commands;
      if (children.length > 0) assert.doesNotMatch(line.slice(found.path.length), /^ [a-z]+/, `${page}: ${line}`);
      const own = [found.command, ...children].flatMap(({ options }) => options.map(({ long }) => long));
      const known = [...own, ...everywhere, '--help', '--version'];
      assert.doesNotMatch(line, /--exit-code "?\$\?/, `${page}: a shell with -e ends before the upload`);
      for (const [option] of line.matchAll(/(?<= )--[a-z\d-]+/g)) assert.ok(known.includes(option), `${page}: ${line}`);
    }
  });
});

/** The commands in scripts and inline code, without comments, quoted words and what follows in a pipe. */
function readCommands(page: string): { page: string; line: string }[] {
  const text = readFileSync(`${root}/${page}`, 'utf8').replaceAll('\\\n', ' ');
  const blocks = scriptsOf(page).flatMap((script) => script.replaceAll('\\\n', ' ').split('\n'));
  const inline = [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`((?:npx )?sluice [^`]+)`/g)].map(
    ([, one = '']) => one,
  );
  return [...blocks, ...inline].flatMap((raw) => {
    const named = raw
      .trim()
      .replace(/\s#.*$/, '')
      .replace('"$SLUICE"', 'sluice');
    const bare = named.replaceAll(/'[^']*'|"[^"]*"/g, 'x');
    const [, words = ''] = /(?:^|[;&|(] *)(?:npx |exec )?(sluice [^;&|)<>]+)/.exec(bare) ?? [];
    // Behind `--` stands a command of somebody else.
    const [line = ''] = words.trim().replaceAll(/\s+/g, ' ').split(' -- ');
    return line === '' ? [] : [{ page, line }];
  });
}

describe('sluice --version', () => {
  it('is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.equal(await print('--version'), `${version}\n`);
  });
});

describe('sluice completion', () => {
  it('prints bash that is valid and completes commands, options and choices', async () => {
    const script = await print('completion', 'bash');
    execFileSync('bash', ['-n'], { input: script });
    const complete = (...words: string[]): string[] => {
      const quoted = words.map((word) => `'${word}'`).join(' ');
      const ask = `\nCOMP_WORDS=(${quoted})\nCOMP_CWORD=$((\${#COMP_WORDS[@]} - 1))\n_sluice\necho "\${COMPREPLY[@]}"`;
      const answer = execFileSync('bash', [], { input: `complete() { :; }\n${script}${ask}`, encoding: 'utf8' });
      return answer.trim().split(' ');
    };
    assert.deepEqual(complete('sluice', 're'), ['repo', 'revert', 'restore']);
    assert.deepEqual(complete('sluice', 'queue', 'd'), ['drain', 'delete']);
    assert.deepEqual(complete('sluice', 'queue', 'create', 'local/acme/app', 'main', '--no-ba'), ['--no-batch']);
    assert.deepEqual(complete('sluice', '--json', 'queue', 'update', '--mode', ''), ['single', 'parallel']);
    assert.deepEqual(complete('sluice', 'queue', 'update', '--mode', '=', 'p'), ['parallel']);
    assert.deepEqual(complete('sluice', 'queue', 'update', '--mode', '='), ['single', 'parallel']);
    assert.deepEqual(complete('sluice', 'pr', 'submit', '--priority', ''), ['urgent', 'high', 'medium', 'low']);
    assert.deepEqual(complete('sluice', 'pr', 'submit', '-p', 'h'), ['high']);
    assert.deepEqual(complete('sluice', 'pr', 'list', '--state', 'me'), ['merged']);
    assert.deepEqual(complete('sluice', 'token', 'create', '--scope', 're'), ['read', 'report']);
    assert.deepEqual(complete('sluice', 'pr', 'submit', '--url', ''), ['']);
    assert.deepEqual(complete('sluice', 'completion', ''), [
      'bash',
      'zsh',
      'fish',
      ...complete('sluice', 'completion', '-'),
    ]);
    assert.ok(!complete('sluice', '--tok').includes('--token'));
  });

  it('prints scripts for zsh and fish that know every command', async () => {
    const [zsh, fish] = await Promise.all([print('completion', 'zsh'), print('completion', 'fish')]);
    for (const { path } of await listCommands()) {
      assert.ok(zsh.includes(`'${path}') commands=`), path);
      assert.ok(fish.includes(`__sluice_at "${path}"`), path);
    }
  });
});

describe('client commands', () => {
  it('load nothing of the server', () => {
    const script = `
      const { registerHooks } = await import('node:module');
      const seen = [];
      registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
      const { createProgram } = await import('./src/cli/program.ts');
      const early = seen.filter((url) => /typebox|contract/.test(url)).length;
      await createProgram().loadEverything();
      const server = seen.filter((url) => /fastify|pino|src\\/(?:app|main|forge\\/(?!github\\/api\\/app-needs))|http\\/(?!contract)/.test(url));
      console.log(JSON.stringify({ early, server }));`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' });
    assert.deepEqual(JSON.parse(text), { early: 0, server: [] });
  });
});
