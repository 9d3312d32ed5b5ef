import type { ForgeRepository } from '../../forge.ts';
import type { GithubClient } from '../api/client.ts';
import type { SeenCheck } from './checks.ts';
import type { Methods, Protection, Rule, Ruleset } from './rules.ts';
import { parseWorkflow, type Workflow } from './workflow.ts';

/** These bounds keep an inspection from using up the rate limit of landings. */
const MAX_WORKFLOWS = 30;
const MAX_RULESETS = 20;
const MAX_FILE = 256 * 1024;

/** The reads of an inspection. Data that is missing or forbidden is answered as absent. */
export interface GithubReader {
  readRepository(): Promise<(Methods & { readonly archived?: boolean }) | undefined>;
  hasBranch(branch: string): Promise<boolean>;
  readProtection(branch: string): Promise<Protection | undefined>;
  /** The branch need not exist. */
  readRules(branch: string): Promise<readonly Rule[]>;
  readRulesets(rules: readonly Rule[]): Promise<ReadonlyMap<number, Ruleset>>;
  /** Answers the first path that exists. */
  readFile(
    paths: readonly string[],
    branch: string,
  ): Promise<{ readonly path: string; readonly text: string } | undefined>;
  readWorkflows(branch: string): Promise<readonly Workflow[]>;
  readSeenChecks(branch: string): Promise<readonly SeenCheck[]>;
}

interface ContentFile {
  readonly type?: string;
  readonly path?: string;
  readonly size?: number;
  readonly encoding?: string;
  readonly content?: string;
}

interface CheckRunRecord {
  readonly name: string;
  readonly app?: { readonly slug?: string; readonly id?: number } | null;
}

export function readerOf(client: GithubClient, repository: ForgeRepository): GithubReader {
  async function find<Data>(
    route: string,
    parameters: Readonly<Record<string, unknown>> = {},
  ): Promise<Data | undefined> {
    const accept = [403, 404, 409, 422];
    const { status, data } = await client.request<Data>({ repository, route, parameters, urgency: 'page', accept });
    return accept.includes(status) ? undefined : data;
  }

  async function readText(path: string, ref: string): Promise<string | undefined> {
    const file = await find<ContentFile>('GET /repos/{owner}/{repo}/contents/{path}', { path, ref });
    if (file?.type !== 'file' || file.encoding !== 'base64' || (file.size ?? 0) > MAX_FILE) return undefined;
    return Buffer.from(file.content ?? '', 'base64').toString('utf8');
  }

  async function readFile(paths: readonly string[], branch: string) {
    for (const path of paths) {
      const text = await readText(path, branch);
      if (text !== undefined) return { path, text };
    }
    return undefined;
  }

  async function readWorkflows(branch: string): Promise<readonly Workflow[]> {
    const parameters = { path: '.github/workflows', ref: branch };
    const listed = await find<readonly ContentFile[]>('GET /repos/{owner}/{repo}/contents/{path}', parameters);
    const paths = (Array.isArray(listed) ? (listed as readonly ContentFile[]) : [])
      .map(({ path }) => path ?? '')
      .filter((path) => /\.ya?ml$/.test(path))
      .slice(0, MAX_WORKFLOWS);
    const workflows: Workflow[] = [];
    for (const path of paths) {
      const text = await readText(path, branch);
      const workflow = text === undefined ? undefined : parseWorkflow(path, text);
      if (workflow !== undefined) workflows.push(workflow);
    }
    return workflows;
  }

  async function readSeenChecks(ref: string): Promise<readonly SeenCheck[]> {
    const parameters = { ref, per_page: 100 };
    const runs = await find<{ readonly check_runs?: readonly CheckRunRecord[] }>(
      'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
      parameters,
    );
    const combined = await find<{ readonly statuses?: readonly { readonly context: string }[] }>(
      'GET /repos/{owner}/{repo}/commits/{ref}/status',
      parameters,
    );
    return [
      ...(runs?.check_runs ?? []).map(({ name, app }) => ({
        name,
        app: app?.slug,
        appId: app?.id === undefined ? undefined : String(app.id),
      })),
      ...(combined?.statuses ?? []).map(({ context }) => ({ name: context, app: undefined, appId: undefined })),
    ];
  }

  async function readRulesets(rules: readonly Rule[]): Promise<ReadonlyMap<number, Ruleset>> {
    const ids = [...new Set(rules.map(({ ruleset_id }) => ruleset_id).filter((id) => id !== undefined))];
    const found = new Map<number, Ruleset>();
    for (const ruleset_id of ids.slice(0, MAX_RULESETS)) {
      const ruleset = await find<Ruleset>('GET /repos/{owner}/{repo}/rulesets/{ruleset_id}', { ruleset_id });
      if (ruleset !== undefined) found.set(ruleset_id, ruleset);
    }
    return found;
  }

  return {
    readRepository: () => find('GET /repos/{owner}/{repo}'),
    hasBranch: async (branch) => (await find('GET /repos/{owner}/{repo}/branches/{branch}', { branch })) !== undefined,
    readProtection: (branch) => find('GET /repos/{owner}/{repo}/branches/{branch}/protection', { branch }),
    readRules: async (branch) =>
      (await find<readonly Rule[]>('GET /repos/{owner}/{repo}/rules/branches/{branch}', { branch, per_page: 100 })) ??
      [],
    readRulesets,
    readFile,
    readWorkflows,
    readSeenChecks,
  };
}
