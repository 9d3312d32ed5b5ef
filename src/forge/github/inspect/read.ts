import type { ForgeRepository } from '../../forge.ts';
import type { GithubClient } from '../api/client.ts';
import type { SeenCheck } from './checks.ts';
import type { Methods, Protection, Rule, Ruleset } from './rules.ts';
import { parseWorkflow, type Workflow } from './workflow.ts';

/** These bounds keep an inspection from using up the rate limit of landings. */
const MAX_WORKFLOWS = 30;
const MAX_RULESETS = 20;
const MAX_FILE = 256 * 1024;
const CONTENTS = 'GET /repos/{owner}/{repo}/contents/{path}';

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

/** The reads of an inspection. Data that is missing or forbidden is answered as absent. */
export class GithubReader {
  readonly #client: GithubClient;
  readonly #repository: ForgeRepository;

  constructor(client: GithubClient, repository: ForgeRepository) {
    this.#client = client;
    this.#repository = repository;
  }

  readRepository(): Promise<(Methods & { readonly archived?: boolean }) | undefined> {
    return this.#find('GET /repos/{owner}/{repo}');
  }

  async hasBranch(branch: string): Promise<boolean> {
    return (await this.#find('GET /repos/{owner}/{repo}/branches/{branch}', { branch })) !== undefined;
  }

  readProtection(branch: string): Promise<Protection | undefined> {
    return this.#find('GET /repos/{owner}/{repo}/branches/{branch}/protection', { branch });
  }

  /** The branch need not exist. */
  async readRules(branch: string): Promise<readonly Rule[]> {
    const parameters = { branch, per_page: 100 };
    return (await this.#find<readonly Rule[]>('GET /repos/{owner}/{repo}/rules/branches/{branch}', parameters)) ?? [];
  }

  async readRulesets(rules: readonly Rule[]): Promise<ReadonlyMap<number, Ruleset>> {
    const ids = [...new Set(rules.map(({ ruleset_id }) => ruleset_id).filter((id) => id !== undefined))];
    const found = new Map<number, Ruleset>();
    for (const ruleset_id of ids.slice(0, MAX_RULESETS)) {
      const ruleset = await this.#find<Ruleset>('GET /repos/{owner}/{repo}/rulesets/{ruleset_id}', { ruleset_id });
      if (ruleset !== undefined) found.set(ruleset_id, ruleset);
    }
    return found;
  }

  /** Answers the first path that exists. */
  async readFile(paths: readonly string[], branch: string) {
    for (const path of paths) {
      const text = await this.#readText(path, branch);
      if (text !== undefined) return { path, text };
    }
    return undefined;
  }

  async readWorkflows(branch: string): Promise<readonly Workflow[]> {
    const listed = await this.#find<readonly ContentFile[]>(CONTENTS, { path: '.github/workflows', ref: branch });
    const paths = (Array.isArray(listed) ? (listed as readonly ContentFile[]) : [])
      .map(({ path }) => path ?? '')
      .filter((path) => /\.ya?ml$/.test(path))
      .slice(0, MAX_WORKFLOWS);
    const workflows: Workflow[] = [];
    for (const path of paths) {
      const text = await this.#readText(path, branch);
      const workflow = text === undefined ? undefined : parseWorkflow(path, text);
      if (workflow !== undefined) workflows.push(workflow);
    }
    return workflows;
  }

  async readSeenChecks(ref: string): Promise<readonly SeenCheck[]> {
    const at = { ref, per_page: 100 };
    const runs = await this.#find<{ readonly check_runs?: readonly CheckRunRecord[] }>(
      'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
      at,
    );
    const combined = await this.#find<{ readonly statuses?: readonly { readonly context: string }[] }>(
      'GET /repos/{owner}/{repo}/commits/{ref}/status',
      at,
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

  async #find<Data>(route: string, parameters: Readonly<Record<string, unknown>> = {}): Promise<Data | undefined> {
    const accept = [403, 404, 409, 422];
    const call = { repository: this.#repository, route, parameters, urgency: 'page', accept } as const;
    const { status, data } = await this.#client.request<Data>(call);
    return accept.includes(status) ? undefined : data;
  }

  async #readText(path: string, ref: string): Promise<string | undefined> {
    const file = await this.#find<ContentFile>(CONTENTS, { path, ref });
    if (file?.type !== 'file' || file.encoding !== 'base64' || (file.size ?? 0) > MAX_FILE) return undefined;
    return Buffer.from(file.content ?? '', 'base64').toString('utf8');
  }
}
