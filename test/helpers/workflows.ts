// Reads the workflows in docs/workflows and runs parts of them.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';

const FOLDER = new URL('../../docs/workflows/', import.meta.url);
export const WORKFLOWS = readdirSync(FOLDER).filter((name) => name.endsWith('.yml'));
export const TARGETS_WORKFLOWS = WORKFLOWS.filter((name) => name.startsWith('impacted-targets-'));

export interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string | number>>;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly 'working-directory'?: string;
}

export interface Job {
  readonly steps: readonly Step[];
  readonly needs?: string;
  readonly if?: string;
  readonly permissions?: object;
  readonly 'timeout-minutes'?: number;
}

export interface Workflow {
  readonly on: {
    readonly push?: { readonly branches: readonly string[] };
    readonly workflow_run?: object;
    readonly pull_request?: { readonly types?: readonly string[] } | null;
  };
  readonly concurrency?: { readonly group: string; readonly 'cancel-in-progress'?: boolean };
  readonly defaults?: { readonly run?: { readonly shell?: string } };
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

export function textOf(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

export function workflowOf(name: string): Workflow {
  return parse(textOf(name)) as Workflow;
}

export function stepsOf(name: string): readonly Step[] {
  return Object.values(workflowOf(name).jobs).flatMap(({ steps }) => steps);
}

export function scriptOf(name: string, step: string): string {
  const script = stepsOf(name).find((each) => each.name === step)?.run;
  if (script === undefined) throw new Error(`${name} has no step "${step}"`);
  return script;
}

/** The step that uses this action, in any version. */
export function inputsOf(name: string, action: string): Readonly<Record<string, unknown>> {
  const step = stepsOf(name).find(({ uses = '' }) => uses.startsWith(`${action}@`));
  if (step?.with === undefined) throw new Error(`${name} does not use ${action}`);
  return step.with;
}

/** Evaluates like GitHub: properties of undefined are undefined, and objects are true. */
export function evaluate(template: string, contexts: Readonly<Record<string, unknown>>): unknown {
  const names = { startsWith: (text: string, start: string) => text.startsWith(start), ...contexts };
  const value = (expression: string): unknown =>
    runInNewContext(expression.replaceAll(/\.(?=\w)/g, '?.'), { ...names });
  const whole = /^\$\{\{([^}]*)\}\}$/.exec(template)?.[1];
  if (whole !== undefined) return value(whole);
  return template.replaceAll(/\$\{\{([^}]*)\}\}/g, (_, expression: string) => String(value(expression)));
}

export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a script like a step with "shell: bash" on GitHub. */
export async function runScript(script: string, { cwd, env = {} }: Place): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      REPO_HOST: 'github.com',
      GITHUB_REPOSITORY: 'acme/app',
      GITHUB_RUN_ID: '123',
      ...env,
    },
  });
  return stdout;
}
