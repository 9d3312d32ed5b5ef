import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NEEDED_EVENTS } from '../../forge/gitea/api/needed-events.ts';
import { type FoundRepository, planSteps } from './gitea-plan.ts';

const hookUrl = 'https://sluice.acme.dev/webhooks/gitea/git.acme.dev';
const WANTED = { hookUrl, secret: 'a long secret', label: 'merge' };
const READY = {
  own: { id: 3, login: 'sluice' },
  repository: { owner: { login: 'acme' }, name: 'app', allow_manual_merge: true },
  branch: { name: 'main', user_can_push: true },
  protection: { rule_name: 'main', enable_push: true, push_whitelist_usernames: ['ada'] },
  hooks: [{ id: 9, active: true, events: NEEDED_EVENTS, config: { url: hookUrl } }],
  labels: [{ id: 1, name: 'Merge' }],
} as unknown as FoundRepository;

describe('the setup of a repository on Gitea', () => {
  it('changes what is missing, and nothing else [G170]', () => {
    const fresh = {
      ...READY,
      repository: { ...READY.repository, allow_manual_merge: false },
      branch: { ...READY.branch, user_can_push: false },
      hooks: [],
      labels: [],
    } as unknown as FoundRepository;
    const steps = planSteps(fresh, WANTED);
    assert.deepEqual(
      steps.map(({ request: { method, path } }) => [method, path]),
      [
        ['PATCH', ''],
        ['PATCH', '/branch_protections/main'],
        ['POST', '/hooks'],
        ['POST', '/labels'],
      ],
    );
    assert.deepEqual(steps[1]?.request.body?.['push_whitelist_usernames'], ['ada', 'sluice'], 'others may still push');
    assert.deepEqual(steps[0]?.request.repository, { owner: 'acme', name: 'app' });
    assert.deepEqual(planSteps(READY, { ...WANTED, hookUrl: undefined }), []);
  });

  it('gives a webhook that is there the secret of the connection, and tells no secret in words [G170]', () => {
    const [step, ...more] = planSteps(READY, WANTED);
    assert.deepEqual([step?.request.method, step?.request.path, more], ['PATCH', '/hooks/9', []]);
    assert.match(JSON.stringify(step?.request.body), /a long secret/);
    assert.doesNotMatch(step?.text ?? '', /a long secret/);
  });
});
