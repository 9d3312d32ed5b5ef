import { call } from '../../core/api.ts';
import { useResource } from '../../core/resource.ts';
import { may, providers } from '../../core/session.ts';
import { Crumbs, useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { Sentence } from '../../ui/text.tsx';
import { People } from './people.tsx';
import { Repositories } from './repositories.tsx';
import { Tokens } from './tokens.tsx';
import { Webhooks } from './webhooks.tsx';

/** Repositories with what is wrong with them, webhooks with their deliveries, and tokens with their last use. */
export function SetupPage({ org }: { readonly org: string }) {
  useTitle(`Setup of ${org}`);
  return (
    <>
      <header class="head">
        <Crumbs org={org} />
      </header>
      <h1>Setup</h1>
      {may({ org }, 'admin') ? (
        <>
          <Server org={org} />
          <Repositories org={org} />
          <Webhooks org={org} />
          <Tokens org={org} />
          {providers.value.length > 0 && <People org={org} />}
        </>
      ) : (
        <Empty title="The setup is for administrators" isPart>
          <p>They have the scope or the role admin in the whole organization.</p>
        </Empty>
      )}
    </>
  );
}

function Server({ org }: { readonly org: string }) {
  const server = useResource(`server ${org}`, (signal) => call(org, 'getServer', {}, { signal }));
  return (
    <Loaded of={server} lines={2}>
      {({ version, runner, backup }) => (
        <dl class="facts">
          <dt>Version</dt>
          <dd>{version}</dd>
          <dt>Checks</dt>
          <dd>
            <Sentence text={runner.sentence} />
          </dd>
          {backup !== undefined && (
            <>
              <dt>Backup</dt>
              <dd>
                {backup.copiedPages} of {backup.totalPages} pages are copied
              </dd>
            </>
          )}
        </dl>
      )}
    </Loaded>
  );
}
