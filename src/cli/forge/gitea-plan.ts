import type { GiteaRequest } from '../../forge/gitea/api/client.ts';
import type {
  AccountData,
  BranchData,
  HookData,
  LabelData,
  ProtectionData,
  RepositoryData,
} from '../../forge/gitea/api/data.ts';
import { HOOK_EVENTS, NEEDED_EVENTS } from '../../forge/gitea/api/needed-events.ts';

/** A repository as it is before the setup. */
export interface FoundRepository {
  readonly own: AccountData;
  readonly repository: RepositoryData;
  /** The branch of the queue. Undefined when it does not exist. */
  readonly branch: BranchData | undefined;
  readonly protection: ProtectionData | undefined;
  readonly hooks: readonly HookData[];
  readonly labels: readonly LabelData[];
}

export interface Wanted {
  /** The address for deliveries. Undefined when Gitea cannot reach the server. */
  readonly hookUrl: string | undefined;
  readonly secret: string;
  readonly label: string;
}

/** A change of a repository's settings, in words and as a request. */
export interface Step {
  readonly text: string;
  readonly request: GiteaRequest;
}

/** Lists the missing settings, in the order in which they are made. */
// SPEC G170
export function planSteps(found: FoundRepository, wanted: Wanted): readonly Step[] {
  const { owner, name } = found.repository;
  const repository = { owner: owner.login, name };
  return [...settingSteps(found), ...pushSteps(found), ...hookSteps(found, wanted), ...labelSteps(found, wanted)].map(
    ({ text, request }) => ({ text, request: { repository, ...request } }),
  );
}

function settingSteps({ repository }: FoundRepository): readonly Step[] {
  if (repository.allow_manual_merge === true) return [];
  return [
    {
      text: 'allow pull requests to be marked as merged by hand, so that those that land by a push show as merged',
      request: { method: 'PATCH', path: '', body: { allow_manual_merge: true } },
    },
  ];
}

function pushSteps({ own, branch, protection }: FoundRepository): readonly Step[] {
  if (branch === undefined || protection === undefined || branch.user_can_push) return [];
  const others = protection.enable_push === true ? (protection.push_whitelist_usernames ?? []) : [];
  return [
    {
      text: `let ${own.login} push to ${branch.name}, whose protection "${protection.rule_name}" refuses it`,
      request: {
        method: 'PATCH',
        path: `/branch_protections/${encodeURIComponent(protection.rule_name)}`,
        body: {
          enable_push: true,
          enable_push_whitelist: true,
          push_whitelist_usernames: [...new Set([...others, own.login])],
        },
      },
    },
  ];
}

/** The secret of a webhook cannot be read, so one that is there gets this server's. */
function hookSteps({ hooks }: FoundRepository, { hookUrl, secret }: Wanted): readonly Step[] {
  if (hookUrl === undefined) return [];
  const config = { url: hookUrl, content_type: 'json', secret };
  const known = hooks.find((hook) => hook.config.url === hookUrl);
  if (known === undefined) {
    const body = { type: 'gitea', active: true, events: HOOK_EVENTS, config };
    return [{ text: `send events to ${hookUrl}`, request: { method: 'POST', path: '/hooks', body } }];
  }
  const isWhole = known.active && NEEDED_EVENTS.every((event) => known.events?.includes(event));
  return [
    {
      text: `${isWhole ? 'sign' : 'complete and sign'} the events that are sent to ${hookUrl} with the secret of this connection`,
      request: { method: 'PATCH', path: `/hooks/${known.id}`, body: { active: true, events: HOOK_EVENTS, config } },
    },
  ];
}

function labelSteps({ labels }: FoundRepository, { label }: Wanted): readonly Step[] {
  if (labels.some(({ name }) => name.toLowerCase() === label.toLowerCase())) return [];
  const body = { name: label, color: '#2da44e', description: 'Submits a pull request to the merge queue' };
  return [
    {
      text: `make the label "${label}", which submits a pull request`,
      request: { method: 'POST', path: '/labels', body },
    },
  ];
}
